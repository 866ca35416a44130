package seed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// jobs is how many notes and letters come in.
const jobs = 6

// jobTime bounds a job, which is done in some milliseconds.
const jobTime = 30 * time.Second

// runRig has the rig work on some notes, of which one is to be kept, and on letters,
// which end dead. It says how many jobs there were.
func (s *stage) runRig(ctx context.Context) (done int, err error) {
	s.clock.set(s.o.Now.Add(-time.Minute))
	ctx, stop := context.WithTimeout(clock.With(ctx, s.clock), jobs*jobTime)
	defer stop()
	for n := range jobs {
		knot, folder := "reviews-loom/review", "inbox"
		if n%3 == 2 {
			knot, folder = "mail-loom/answer", "mail"
		}
		name := fmt.Sprintf("%s/note-%d.md", folder, n+1)
		if err := s.file(name, fmt.Sprintf("# Note %d\n\nThe %s is nearly out.\n", n+1, pick(n, goods...))); err != nil {
			return done, err
		}
		if _, err := s.app.RunKnot(ctx, "rig", knot, name, func(view.RigJob) {}); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

func (s *stage) file(name, text string) error {
	path := filepath.Join(s.app.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// rigModels are those of the rig's profiles, whose prompts are not known before.
func rigModels() map[string]model.Model {
	models := map[string]model.Model{}
	for name, reply := range map[string]script.Reply{
		"acme/notes":  {Text: "The note is clear, and says what to buy.\n\n```event\nevent: Keep\ndescription: The note is to be kept.\n```\n", Usage: &script.Usage{Input: 640, Output: 48}},
		"acme/absent": {Error: &script.Failure{Status: 400}},
	} {
		s := script.New(reply)
		s.Loop = true
		models[name] = s.Model(name)
	}
	return models
}
