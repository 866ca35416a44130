package rig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
)

// Defaults and bounds of a knot's values; see Knot.
const (
	DefaultDebounce    = 100 * time.Millisecond
	DefaultTimeout     = 5 * time.Minute
	DefaultAttempts    = 5
	DefaultBackoff     = 2 * time.Second
	DefaultMaxBackoff  = 5 * time.Minute
	MaxConcurrency     = 64
	maxAttempts        = 100
	maxTime            = 24 * time.Hour
	minCost, maxCost   = 0.000001, 1e9
	minPause, maxPause = 10 * time.Millisecond, time.Hour
)

// Parse reads the file of a knot. loom is the whole name of its folder, and file is how
// diagnostics name it: relative to the workspace, with slashes. All that is wrong is
// said at once: the errors in the order in which the names of knots' errors stand in the
// documentation, then other errors, then the rest. The knot must not be used if one of
// the diagnostics is an error; it has the name that the file claims then, as far as that
// is known.
func Parse(loom, file string, data []byte, p Policy) (*Knot, []profile.Diagnostic) {
	sum := sha256.Sum256(data)
	r := &reader{Front: dialect.ReadFront(file, data), policy: p, k: &Knot{Loom: loom, File: file, Digest: hex.EncodeToString(sum[:])}}
	if ds := r.Diagnostics(); profile.Refused(ds) {
		r.k.Name = claimed("", file)
		return r.k, inOrder(badForm(ds))
	}
	r.name()
	r.agent()
	r.prompt()
	r.input()
	r.watching()
	r.running()
	r.times()
	r.required()
	r.idle()
	r.Unread("a knot", known...)
	return r.k, inOrder(r.Diagnostics())
}

// known are keys that are nested, so that one that is not is told where it belongs.
var known = []string{
	"agent-config.goal", "agent-config.provider", "agent-config.model", "agent-config.tools", "agent-config.system-prompt",
	"prompt-template.input-bundling", "prompt-template.instructions",
	"retries.attempts", "retries.backoff", "retries.max-backoff", "budget.cost-per-run", "budget.cost-per-day",
}

// reader reads one knot.
type reader struct {
	*dialect.Front
	policy Policy
	k      *Knot
}

// or gives a default its value, if nothing is set.
func or[T any](v profile.Value[T], def T) profile.Value[T] {
	if !v.Set {
		v.V, v.At = def, source.Origin{Layer: source.Builtin}
	}
	return v
}

// claimed is the name of a knot: that which is written, else that of its file; empty if
// that is none.
func claimed(written, file string) string {
	for _, name := range []string{written, strings.TrimSuffix(path.Base(file), ".md")} {
		if checkName(name) == nil {
			return name
		}
	}
	return ""
}

// checkName says whether a name is one that a knot or loom may have: it becomes a part
// of paths.
func checkName(name string) error {
	if err := profile.CheckName(name); err != nil {
		return err
	}
	if strings.Contains(name, "/") {
		return fmt.Errorf("the name %q holds a '/': %w", name, profile.SchemaValidation)
	}
	return nil
}

func (r *reader) name() {
	const form = "names are letters, digits, '.', '_' and '-', with a letter or digit first"
	v := r.Text("name")
	written := strings.TrimSpace(v.V)
	r.k.Name, r.k.NameAt = claimed(written, r.k.File), v.At
	if r.k.NameAt.Line == 0 {
		r.k.NameAt = r.Top()
	}
	switch {
	case written == "" && r.At("name").Line > 0:
		r.Report(profile.CodeMissingName, r.At("name"), "name", "the name is blank", "write name: …, or leave the key out to take it from the file")
	case written == "" && r.k.Name == "":
		r.Report(profile.CodeMissingName, r.Top(), "name", "the knot has no name, and that of its file cannot be one", "write name: …; "+form)
	case written != "":
		if err := checkName(written); err != nil {
			r.Report(profile.CodeName, v.At, "name", strings.TrimSuffix(err.Error(), ": "+string(profile.SchemaValidation)), form)
		}
	}
}

func (r *reader) agent() {
	k := r.k
	ref := r.Text("agent-profile-ref")
	k.Agent = resolve.Agent{Ref: strings.TrimSpace(ref.V), At: r.At("agent-profile-ref")}
	if k.Agent.Ref != "" {
		if err := profile.CheckName(k.Agent.Ref); err != nil {
			r.Report(profile.CodeName, ref.At, "agent-profile-ref", "agent-profile-ref: "+strings.TrimSuffix(err.Error(), ": "+string(profile.SchemaValidation)), "name a profile: roster list shows them")
		}
	}
	config, set := r.Profile("agent-config", "goal")
	if config != nil {
		k.Agent.Config = config
		if k.Agent.Ref == "" {
			k.Agent.At = r.At("agent-config")
			r.inPlace(config)
		} else {
			k.overrides = set
		}
		k.Agent.Goal = strings.TrimSpace(r.Text("agent-config.goal").V)
	}
	if k.Agent.At.Line == 0 {
		k.Agent.At = r.Top()
	}
}

// inPlace makes a profile of a configuration that stands alone.
func (r *reader) inPlace(p *profile.Profile) {
	p.Name, p.NameAt = r.k.ID(), r.At("agent-config")
	if !p.Tools.Set { // absent: none, as in the profiles of a rig
		p.Tools = profile.Value[profile.Tools]{V: profile.Tools{Names: []string{}}, Set: true, At: p.NameAt}
	}
	p.Seal()
}

func (r *reader) prompt() {
	if r.Open("prompt-template") {
		r.k.Instructions = r.Text("prompt-template.instructions")
		v := r.OneOf("prompt-template.input-bundling", string(FullFile), string(PathOnly), string(Diff), string(Batch))
		r.k.Bundling = profile.Value[Bundling]{V: Bundling(v.V), Set: v.Set, At: v.At}
	}
	r.k.Instructions.V = strings.TrimSpace(r.k.Instructions.V)
	r.k.Bundling = or(r.k.Bundling, FullFile)
	r.k.Body = strings.TrimSpace(r.Body)
}

func (r *reader) input() {
	r.k.EventDescription = r.Text("event-description")
	r.k.EventDescription.V = strings.Join(strings.Fields(r.k.EventDescription.V), " ")
	v := r.Text("strand-dir")
	if strings.TrimSpace(v.V) == "" {
		return
	}
	in, why, hint := parseInput(strings.TrimSpace(v.V), r.policy)
	if why != "" {
		r.Report(profile.CodeStrandDir, v.At, "strand-dir", fmt.Sprintf("the strand-dir %q %s", v.V, why), hint)
		return
	}
	r.k.Input = profile.Value[Input]{V: in, Set: true, At: v.At}
}

func (r *reader) watching() {
	k := r.k
	k.On = or(r.events(), []Event{Created, Modified, Deleted})
	k.Self = or(r.Flag("self"), false)
	k.Debounce = or(r.Duration("debounce", minPause, maxPause), DefaultDebounce)
	if k.Ignore = r.List("ignore"); !k.Ignore.Set {
		return
	}
	set, _, cut := (*ignore.Set)(nil).And([]byte(strings.Join(k.Ignore.V, "\n")), "")
	if k.ignores = set; cut {
		r.Report(profile.CodeNotAllowed, k.Ignore.At, "ignore", fmt.Sprintf("ignore has more than %d patterns", ignore.MaxPatterns), "")
	}
}

// events reads which changes count.
func (r *reader) events() (v profile.Value[[]Event]) {
	list := r.List("on")
	for _, word := range list.V {
		switch e := Event(word); e {
		case Created, Modified, Deleted:
			v.V = append(v.V, e)
		default:
			r.Report(profile.CodeNotAllowed, list.At, "on", fmt.Sprintf("on takes created, modified and deleted, not %q", word), "")
		}
	}
	if list.Set && len(list.V) == 0 {
		r.Report(profile.CodeNotAllowed, list.At, "on", "on names no event, so that no change counts", "leave it out for all three")
	}
	v.Set, v.At = len(v.V) > 0, list.At
	return v
}

func (r *reader) running() {
	k := r.k
	k.Concurrency = or(r.Count("concurrency", 1, MaxConcurrency), 1)
	k.Timeout = or(r.Duration("timeout", time.Second, maxTime), DefaultTimeout)
	k.GitVersioned = or(r.Flag("git-versioned"), false)
	if r.Open("budget") {
		k.Budget.PerRun = r.Number("budget.cost-per-run", minCost, maxCost)
		k.Budget.PerDay = r.Number("budget.cost-per-day", minCost, maxCost)
	}
	if r.Open("retries") {
		k.Retries.Attempts = r.Count("retries.attempts", 1, maxAttempts)
		k.Retries.Backoff = r.Duration("retries.backoff", minPause, maxTime)
		k.Retries.MaxBackoff = r.Duration("retries.max-backoff", minPause, maxTime)
	}
	k.Retries.Attempts = or(k.Retries.Attempts, DefaultAttempts)
	k.Retries.Backoff = or(k.Retries.Backoff, DefaultBackoff)
	k.Retries.MaxBackoff = or(k.Retries.MaxBackoff, max(DefaultMaxBackoff, k.Retries.Backoff.V))
}

func (r *reader) times() {
	k := r.k
	k.Zone = or(k.Zone, time.Local)
	if v := r.Text("time-zone"); v.Set {
		zone, err := time.LoadLocation(strings.TrimSpace(v.V))
		if err == nil && strings.TrimSpace(v.V) == "" {
			err = errors.New("it is blank")
		}
		if err != nil {
			r.Report(profile.CodeKnotTimes, v.At, "time-zone", fmt.Sprintf("the time zone %q is not known: %v", v.V, err), "write one such as Europe/Berlin or UTC, or leave it out for the machine's")
		} else {
			k.Zone = profile.Value[*time.Location]{V: zone, Set: true, At: v.At}
		}
	}
	if v := r.Text("schedule"); v.Set {
		s, err := ParseSchedule(v.V)
		if err != nil {
			r.Report(profile.CodeKnotTimes, v.At, "schedule", fmt.Sprintf("the schedule %q cannot be understood: %v", v.V, err), `write five fields, such as "0 9 * * 1-5" for nine o'clock on weekdays, or @daily`)
		} else {
			k.Schedule = profile.Value[*Schedule]{V: s, Set: true, At: v.At}
		}
	}
	r.quietHours()
}

func (r *reader) quietHours() {
	const form = `write 22:00-07:00, or with days "Sat Sun 00:00-24:00"`
	var windows []Window
	items := r.Items("quiet-hours")
	for _, v := range items {
		w, err := ParseWindow(v.V)
		if err != nil {
			r.Report(profile.CodeKnotTimes, v.At, "quiet-hours", fmt.Sprintf("the quiet hours %q cannot be understood: %v", v.V, err), form)
			continue
		}
		windows = append(windows, w)
	}
	at := r.At("quiet-hours")
	switch {
	case len(windows) > MaxWindows:
		r.Report(profile.CodeKnotTimes, at, "quiet-hours", fmt.Sprintf("%d quiet hours are more than %d", len(windows), MaxWindows), "")
	case always(windows):
		r.Report(profile.CodeKnotTimes, at, "quiet-hours", "the quiet hours leave no time at which the knot could run", "")
	case len(windows) > 0:
		r.k.QuietHours = profile.Value[[]Window]{V: windows, Set: true, At: at}
	}
}
