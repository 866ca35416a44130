package resolve

import (
	"errors"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// maxID bounds the ids that a profile gives itself, in bytes.
const maxID = 200

// ids finds by what the profile and its configuration are known. Where it does not
// say so it is UUIDs that follow from the name, so that they are the same the next
// time, and on other machines that share a store.
func (r *resolver) ids() {
	own := uuid.NewSHA1(uuid.NameSpaceURL, []byte("roster:profile:"+r.out.Name))
	r.out.ProfileID = r.id("profile-id", own)
	r.out.ConfigID = r.id("config-id", uuid.NewSHA1(own, []byte("config")))
}

func (r *resolver) id(key string, otherwise uuid.UUID) string {
	v := pick(r, key, func(p *profile.Profile) profile.Value[string] {
		x, ok := kept(p, key)
		if !ok || r.err != nil {
			return profile.Value[string]{}
		}
		text, err := idOf(x)
		if err != nil {
			r.fail(key, x.At, err.Error(), "write a UUID, or leave it out")
		}
		return profile.Value[string]{V: text, Set: err == nil && text != "", At: x.At}
	})
	if !v.Set {
		return otherwise.String()
	}
	return v.V
}

func idOf(x profile.Extra) (string, error) {
	n, err := x.Node()
	if err != nil {
		return "", err
	}
	if n.Kind != yaml.ScalarNode {
		return "", errors.New("it is one text")
	}
	if n.Tag == "!!null" {
		return "", nil
	}
	id := strings.TrimSpace(n.Value)
	if len(id) > maxID || strings.ContainsFunc(id, func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) }) {
		return "", errors.New("it has no blanks, and 200 bytes at most")
	}
	return id, nil
}
