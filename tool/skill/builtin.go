package skill

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

//go:embed builtin/*/SKILL.md
var builtinFiles embed.FS

// builtins are the skills of the program itself.
var builtins = sync.OnceValue(func() []*Skill {
	files, err := fs.Glob(builtinFiles, "builtin/*/"+File)
	if err != nil {
		panic(err)
	}
	var out []*Skill
	for _, name := range files {
		data, err := builtinFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		s, ds := parse(path.Base(path.Dir(name)), name, data, Place{Layer: source.Builtin, Own: true})
		if s == nil || profile.Refused(ds) {
			panic(fmt.Sprintf("the skill %s does not load: %v", name, ds))
		}
		s.data = data
		out = append(out, s)
	}
	return out
})
