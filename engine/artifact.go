package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/tool"
)

// bytesPerToken turns a number of tokens into one of bytes, as message.Tokens
// does the other way round.
const bytesPerToken = 4

// blobTime bounds how long the writing of a blob may take: what a tool gave is
// kept also where its time is over.
const blobTime = 10 * time.Second

// maxResult is how many bytes of a tool's result are sent; 0: all. A small window
// takes no more than an eighth of it.
func (r *run) maxResult() int {
	most := r.Spec.Context.MaxResult
	if most == 0 {
		return 0
	}
	return min(most, int(r.budget().window/8)) * bytesPerToken
}

// artifact keeps the text of a result that is too long to be sent whole as a
// blob. The model gets its beginning and its end, and the name under which it can
// read the rest.
func (r *run) artifact(parts []message.Part) (short []message.Part, digest string) {
	most, n := r.maxResult(), 0
	for _, p := range parts {
		if t, ok := p.(message.Text); ok {
			n += len(t.Text)
		}
	}
	if most == 0 || n <= most {
		return parts, ""
	}
	text := message.PartsText(parts)
	digest, err := r.putBlob(text)
	name := r.whereIs(digest)
	if err != nil {
		name = "it could not be kept: " + r.clean(err.Error())
	}
	short = []message.Part{message.Text{Text: cutText(text, most, name)}}
	for _, p := range parts {
		if _, ok := p.(message.Text); !ok {
			short = append(short, p)
		}
	}
	return short, digest
}

func (r *run) putBlob(text string) (digest string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), blobTime)
	defer cancel()
	return r.deps.Blobs.PutBlob(ctx, r.st.Key.Tenant, []byte(text))
}

// whereIs tells the model how to come by what was cut.
func (r *run) whereIs(digest string) string {
	name := "all of it is " + tool.ArtifactPrefix + digest
	if _, ok := r.tools["read"]; ok {
		name += ", which read opens"
	}
	return name
}

// cutText keeps the beginning and the end of a text, about most bytes of it.
func cutText(text string, most int, where string) string {
	head, tail := text[:most/2], text[len(text)-most/2:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[%d of %d bytes are left out here; %s]\n%s",
		strings.TrimSuffix(head, "\n"), len(text)-len(head)-len(tail), len(text), where, tail)
}
