package host

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/rig/graph"
	"github.com/rosterrun/roster/rig/ledger"
)

func (h *Host) listRigs(w *response, r *http.Request) error {
	list, err := h.deps.Rigs(r.Context())
	if err != nil {
		return err
	}
	return writeTagged(w, r, list)
}

func (h *Host) getRig(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	one, err := h.deps.Rig(r.Context(), name)
	if err != nil {
		return err
	}
	return writeTagged(w, r, one)
}

// checkRig says what is wrong with the files of a rig.
func (h *Host) checkRig(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	report, err := h.deps.CheckRig(r.Context(), name)
	if err != nil {
		return err
	}
	return writeTagged(w, r, report)
}

// svgPolicy lets a picture that is opened by itself run and fetch nothing.
const svgPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"

// rigGraph draws a rig.
func (h *Host) rigGraph(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	format := r.URL.Query().Get("format")
	if !slices.Contains([]string{"", "json", "svg", "mermaid", "text"}, format) {
		return invalid("format", "takes json, svg, mermaid or text")
	}
	g, err := h.deps.RigGraph(r.Context(), name)
	if err != nil {
		return err
	}
	if format == "" || format == "json" {
		return writeTagged(w, r, g)
	}
	return drawn(w, r, g, format)
}

func drawn(w *response, r *http.Request, g *graph.Graph, format string) error {
	kind, draw := "text/plain; charset=utf-8", g.Text
	switch format {
	case "svg":
		kind, draw = "image/svg+xml", g.SVG
		w.Header().Set("Content-Security-Policy", svgPolicy)
	case "mermaid":
		draw = g.Mermaid
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	return writeTypedIfNew(w, r, kind, b.Bytes(), tagOf(b.Bytes(), ""))
}

// listRigJobs lists what the knots of a rig work on, the newest first.
func (h *Host) listRigJobs(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	q, err := jobQuery(r)
	if err != nil {
		return err
	}
	page, err := h.deps.RigJobs(r.Context(), name, q)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

var jobStates = []ledger.State{ledger.Queued, ledger.Running, ledger.Writing, ledger.Done, ledger.Dead}

// maxJobText bounds the name of a knot, and the path of a strand, in bytes.
const maxJobText = 4096

func jobQuery(r *http.Request) (q ledger.Query, err error) {
	p := r.URL.Query()
	q.Knot, q.Path = p.Get("knot"), p.Get("path")
	for name, text := range map[string]string{"knot": q.Knot, "path": q.Path} {
		if err := rigText(name, text); err != nil {
			return q, err
		}
	}
	if v := p.Get("state"); v != "" {
		for _, one := range strings.Split(v, ",") {
			if !slices.Contains(jobStates, ledger.State(one)) {
				return q, invalid("state", "takes queued, running, writing, done and dead, with commas between")
			}
			q.States = append(q.States, ledger.State(one))
		}
	}
	if q.Before, err = number("before", p.Get("before")); err != nil {
		return q, invalid("before", "takes the seq of a job")
	}
	q.Limit, err = rigLimit(p.Get("limit"))
	return q, err
}

// rigLimit is how many of a list are wanted; 0: nothing is said.
func rigLimit(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > ledger.MaxPage {
		return 0, invalid("limit", "takes a number from 1 to "+strconv.Itoa(ledger.MaxPage))
	}
	return n, nil
}

// askKnotBody says which knot is asked, and for what.
type askKnotBody struct {
	Knot string `json:"knot" schema:"required;max=4096"` // LOOM/NAME, or a name that only one knot has
	Path string `json:"path" schema:"max=4096"`          // of a file in the knot's folder, relative to the workspace; of a knot without a folder, none
}

// askKnot has a knot work on a file now.
func (h *Host) askKnot(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	var body askKnotBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Knot == "" {
		return missing("knot", "it names the knot, as LOOM/NAME")
	}
	for field, text := range map[string]string{"knot": body.Knot, "path": body.Path} {
		if err := rigText(field, text); err != nil {
			return err
		}
	}
	idem, err := idempotency(r)
	if err != nil {
		return err
	}
	j, err := h.deps.AskKnot(r.Context(), name, body.Knot, body.Path, idem)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/rigs/"+url.PathEscape(name)+"/jobs/"+j.ID)
	return writeJSON(w, http.StatusAccepted, j)
}

// rigText refuses what cannot be the name of a knot or a path.
func rigText(field, text string) error {
	if len(text) > maxJobText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return invalid(field, "is too long, or no text")
	}
	return nil
}

// listTieOffs lists what the knots of a rig have answered, the newest first.
func (h *Host) listTieOffs(w *response, r *http.Request) error {
	name, err := pathText(r, "rig")
	if err != nil {
		return err
	}
	p := r.URL.Query()
	limit, err := rigLimit(p.Get("limit"))
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"", "true", "false"}, p.Get("answers")) {
		return invalid("answers", "takes true or false")
	}
	found, err := h.deps.TieOffs(r.Context(), name, p.Get("knot"), limit, p.Get("answers") == "true")
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}

func (h *Host) getRigJob(w *response, r *http.Request) error {
	rig, id, err := pathJob(r)
	if err != nil {
		return err
	}
	j, err := h.deps.RigJob(r.Context(), rig, id)
	if err != nil {
		return err
	}
	return writeTagged(w, r, j)
}

// replayRigJob queues a dead job anew.
func (h *Host) replayRigJob(w *response, r *http.Request) error {
	rig, id, err := pathJob(r)
	if err != nil {
		return err
	}
	j, err := h.deps.ReplayJob(r.Context(), rig, id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, j)
}

// dropRigJob takes a job out that is queued or dead.
func (h *Host) dropRigJob(w *response, r *http.Request) error {
	rig, id, err := pathJob(r)
	if err != nil {
		return err
	}
	if err := h.deps.DropJob(r.Context(), rig, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

const jobPattern = `^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`

var jobID = regexp.MustCompile(jobPattern)

// pathJob is the job that a path names.
func pathJob(r *http.Request) (rig, id string, err error) {
	if rig, err = pathText(r, "rig"); err != nil {
		return "", "", err
	}
	if id, err = pathText(r, "id"); err != nil {
		return "", "", err
	}
	if !jobID.MatchString(id) {
		return "", "", &Error{Status: http.StatusNotFound, Code: "JobNotFound", Message: "there is no such job: ids of jobs are UUIDs"}
	}
	return rig, id, nil
}
