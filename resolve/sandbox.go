package resolve

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// sandboxKeys are those that a spec has a value for.
var sandboxKeys = [...]string{"sandbox.kind", "sandbox.preset", "sandbox.read", "sandbox.network", "sandbox.image"}

// sandbox finds where commands run: each key of the map from the strongest layer
// that has it. The walls of roster.yaml stand around what comes of it, and for
// those whose denials are handed down, that of the agent above.
func (r *resolver) sandbox() {
	for _, key := range sandboxKeys {
		r.set(key, source.Origin{Layer: source.Builtin})
	}
	out := &r.out.Sandbox
	for i, l := range r.layers {
		s, err := l.Keys.Sandbox()
		if err != nil {
			r.fail("sandbox", source.Origin{Layer: l.Name}, err.Error(), "see roster schema")
			return
		}
		if s == nil {
			continue
		}
		next := *out
		r.says(&next, s)
		if r.err != nil {
			return
		}
		if r.asked > 0 && i == r.asked && widened(*out, next, s) {
			r.widens("sandbox", "as it is")
			continue
		}
		r.trace(s, l.Name)
		*out = next
	}
	if out.Kind == "" && out.NoNetwork {
		out.Kind = "bubblewrap" // the weakest that can
	}
	for _, wall := range r.in.Config.Policy.Sandbox {
		if r.around(wall); r.err != nil {
			return
		}
	}
	if above := r.in.Above; above != nil && above.Subagents.InheritDenies {
		*out = out.Within(above.Sandbox)
	}
	if out.Kind == "docker" && out.Image == "" {
		r.fail("sandbox.image", r.out.Origins["sandbox.kind"].Origin, "docker needs an image to make the container of", "name one, such as image: debian:12")
	}
	if err := canDo(*out); err != nil {
		r.fail("sandbox.network", r.out.Origins["sandbox.network"].Origin, err.Error(), "choose bubblewrap")
	}
}

// widened says whether what a request says would let commands reach more.
func widened(before, after spec.Sandbox, s *profile.Sandbox) bool {
	return after.Weaker(before) || len(s.Read) > 0 || s.Image.Set || after.Preset == profile.SandboxMaintenance
}

func canDo(s spec.Sandbox) error {
	if s.NoNetwork && (s.Kind == "none" || s.Kind == "landlock") {
		return fmt.Errorf("%s does not keep commands from the network", s.Kind)
	}
	return nil
}

// says puts what a layer says over what is there. A kind or a preset begins anew,
// apart from what may be read.
func (r *resolver) says(out *spec.Sandbox, s *profile.Sandbox) {
	switch {
	case s.Preset.Set:
		kind := "bubblewrap"
		if s.Kind.V == "docker" || !s.Kind.Set && out.Kind == "docker" && s.Preset.V == profile.SandboxPublic {
			kind = "docker"
		}
		out.Kind, out.Preset = kind, s.Preset.V
		out.NoNetwork, out.Read = s.Preset.V == profile.SandboxPublic, nil
		if s.Preset.V == profile.SandboxMaintenance {
			out.Read = []string{"/"}
		}
	case s.Kind.Set:
		if out.Preset == profile.SandboxMaintenance {
			out.Read = nil
		}
		out.Kind, out.Preset = s.Kind.V, ""
		out.NoNetwork = s.Kind.V == "bubblewrap" || s.Kind.V == "docker"
	}
	if s.Network.Set {
		out.NoNetwork = !s.Network.V
	}
	if s.Image.Set {
		out.Image = s.Image.V
	}
	if s.ReadSet {
		out.Read = r.readable(s.Read)
	}
}

// readable gives the paths that a list adds to what may be read. Those in the
// workspace may be read anyway; one in it that is a link to somewhere else is
// left out, since a file of the workspace does not say where it leads.
func (r *resolver) readable(list []profile.Value[string]) (out []string) {
	for _, v := range list {
		path, err := permission.Expand(v.V, r.in.LookupEnv)
		if err != nil {
			r.fail("sandbox.read", v.At, err.Error(), "")
			return nil
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.in.Config.Dir, path)
		}
		path = filepath.Clean(path)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path // it is not there, which roster doctor tells
		}
		switch {
		case inside(r.in.Config.Dir, real):
		case inside(r.in.Config.Dir, path):
			r.ds = append(r.ds, profile.Diagnose(profile.CodeSandboxLink, v.At, "sandbox.read",
				fmt.Sprintf("%s is a link to %s, outside of the workspace; it has no effect", v.V, real), "name "+real))
		case !slices.Contains(out, path):
			out = append(out, path)
		}
	}
	return out
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// trace notes who set what.
func (r *resolver) trace(s *profile.Sandbox, layer source.Layer) {
	note := func(key string, set bool, at source.Origin) {
		if !set {
			return
		}
		at.Layer = layer
		t := r.out.Origins[key]
		r.out.Origins[key] = spec.Trace{Origin: at, Overrode: append(t.Overrode, t.Origin)}
	}
	note("sandbox.kind", s.Kind.Set, s.Kind.At)
	note("sandbox.kind", s.Preset.Set && !s.Kind.Set, s.Preset.At)
	note("sandbox.preset", s.Preset.Set, s.Preset.At)
	note("sandbox.network", s.Network.Set, s.Network.At)
	note("sandbox.network", !s.Network.Set && s.Preset.Set, s.Preset.At)
	note("sandbox.network", !s.Network.Set && !s.Preset.Set && s.Kind.Set, s.Kind.At)
	note("sandbox.image", s.Image.Set, s.Image.At)
	note("sandbox.read", s.ReadSet, s.At)
	note("sandbox.read", !s.ReadSet && s.Preset.Set, s.Preset.At)
}

// around puts the wall of a roster.yaml around what the layers say. What it lets
// be read may be read.
func (r *resolver) around(wall *profile.Sandbox) {
	var floor spec.Sandbox
	if r.says(&floor, wall); r.err != nil {
		return
	}
	out := &r.out.Sandbox
	if read := floor.Preset == profile.SandboxPublic && len(out.Read) > 0; read || out.Weaker(floor) {
		keys := []string{"sandbox.kind", "sandbox.network"}
		if read {
			keys = append(keys, "sandbox.read")
		}
		if at := r.firstOf(keys); at.Layer != source.Builtin {
			r.ds = append(r.ds, profile.Diagnose(profile.CodeSandboxWall, at, "sandbox",
				fmt.Sprintf("sandbox: it asks for less than %s sets; what stands there holds", wall.At), "a profile may only ask for more"))
		}
		r.trace(&profile.Sandbox{Kind: wall.Kind, Preset: wall.Preset, Network: wall.Network, Image: wall.Image}, source.Host)
	}
	read := out.Read
	if *out = out.Within(floor); out.Preset == profile.SandboxPublic {
		return
	}
	for _, p := range floor.Read {
		if !slices.Contains(read, p) {
			read = append(read, p)
			at := wall.At
			at.Layer = source.Host
			r.out.Origins["sandbox.read"] = spec.Trace{Origin: at, Overrode: r.out.Origins["sandbox.read"].Overrode}
		}
	}
	out.Read = read
}

// firstOf is where the first of some keys that a file has is written.
func (r *resolver) firstOf(keys []string) source.Origin {
	for _, key := range keys {
		if at := r.out.Origins[key].Origin; at.Layer != source.Builtin {
			return at
		}
	}
	return source.Origin{Layer: source.Builtin}
}

// walled makes a spec that stands in a log obey the walls of this moment too.
func walled(s spec.Sandbox, walls []*profile.Sandbox, dir string) (spec.Sandbox, error) {
	for _, wall := range walls {
		var floor spec.Sandbox
		r := &resolver{in: Input{Config: &config.Config{Dir: dir}}}
		w := *wall
		w.Read, w.ReadSet = nil, false // what may be read is as it was
		if r.says(&floor, &w); r.err != nil {
			return s, r.err
		}
		s = s.Within(floor)
	}
	return s, canDo(s)
}
