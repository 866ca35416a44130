package host

import (
	"net/http"

	"github.com/rosterrun/roster/identity"
)

// operation is one thing that clients can ask for.
type operation struct {
	method string // GET serves HEAD too; empty: any
	path   string // with {parameters}
	// id is the name of the operation: stable, and of its own.
	id string
	// role is what the caller must have, any of several; 0: nobody is asked.
	role  identity.Role
	serve func(*response, *http.Request) error
	// live says that the answer has no end by itself, so that its head alone is not
	// to be had.
	live bool
}

// What the routes are for.
const (
	anybody = identity.Role(0)
	reads   = identity.Viewer
	runs    = identity.Runner
	answers = identity.Approver | identity.Runner
	edits   = identity.Editor
	admins  = identity.Admin
)

// operations are all that there is.
func (h *Host) operations() []operation {
	all := []operation{
		{"GET", "/health", "health", anybody, h.health, false},
		{"GET", "/ready", "ready", anybody, h.ready, false},
		{"GET", "/openapi.json", "openapi", anybody, h.openapi, false},
		{"GET", "/docs", "docs", anybody, h.docs, false},
		{"GET", "/schema", "schema", anybody, h.schema, false},
	}
	if h.deps.Metrics != nil {
		all = append(all, operation{"GET", "/metrics", "metrics", admins, h.metrics, false})
	}
	all = append(all, h.profileRoutes()...)
	all = append(all, h.sessionRoutes()...)
	if h.deps.Models != nil {
		all = append(all, h.lookRoutes()...)
	}
	all = append(all, h.openaiRoutes()...)
	if h.deps.Skills != nil {
		all = append(all,
			operation{"GET", "/skills", "listSkills", reads, h.listSkills, false},
			operation{"GET", "/skills/{name}", "getSkill", reads, h.getSkill, false},
			operation{"PUT", "/skills/{name}", "putSkill", edits, h.putSkill, false},
		)
	}
	if h.deps.Servers != nil {
		all = append(all, h.serverRoutes()...)
	}
	if h.deps.Rigs != nil {
		all = append(all, h.rigRoutes()...)
	}
	if h.deps.A2A != nil {
		all = append(all,
			operation{"GET", "/.well-known/agent-card.json", "defaultAgentCard", reads, h.agentCard, false},
			operation{"GET", "/a2a/{name}/.well-known/agent-card.json", "agentCard", reads, h.agentCard, false},
			operation{"POST", "/a2a/{name}", "agentRequest", runs, h.agentRequest, true},
		)
	}
	if h.deps.Keys != nil {
		all = append(all,
			operation{"GET", "/keys", "listKeys", admins, h.listKeys, false},
			operation{"POST", "/keys", "createKey", admins, h.createKey, false},
			operation{"DELETE", "/keys/{id}", "revokeKey", admins, h.revokeKey, false},
			operation{"POST", "/keys/{id}/rotate", "rotateKey", admins, h.rotateKey, false},
		)
	}
	if h.deps.Files != nil {
		all = append(all, operation{"GET", "/files", "listFiles", reads, h.files, false})
	}
	if h.deps.Place != nil {
		all = append(all, operation{"GET", "/whoami", "whoami", reads, h.whoami, false})
	}
	if h.deps.Audit != nil {
		all = append(all, operation{"GET", "/audit", "listAudit", admins, h.listAudit, false})
	}
	if h.deps.MCP != nil {
		all = append(all, operation{"", "/mcp", "mcp", runs, h.mcp, false})
	}
	return all
}

func (h *Host) profileRoutes() []operation {
	return []operation{
		{"GET", "/profiles", "listProfiles", reads, h.listProfiles, false},
		{"POST", "/profiles", "createNamedProfile", edits, h.createNamed, false},
		{"GET", "/profiles/-/diagnostics", "diagnostics", reads, h.diagnostics, false},
		{"POST", "/profiles/-/check", "checkProfile", reads, h.check, false},
		{"GET", "/profiles/-/source", "profileSource", reads, h.profileSource, false},
		{"PUT", "/profiles/-/source", "putProfileSource", edits, h.putSource, false},
		{"GET", "/profiles/{name}", "getProfile", reads, h.getProfile, false},
		{"POST", "/profiles/{name}", "createProfile", edits, h.createProfile, false},
		{"PUT", "/profiles/{name}", "putProfile", edits, h.putProfile, false},
		{"DELETE", "/profiles/{name}", "deleteProfile", edits, h.deleteProfile, false},
		{"POST", "/profiles/{name}/rollback", "rollbackProfile", edits, h.rollback, false},
		{"GET", "/profiles/{name}/history", "profileHistory", reads, h.profileHistory, false},
		{"GET", "/profiles/{name}/diff", "profileDiff", reads, h.profileDiff, false},
		{"GET", "/profiles/{name}/prompt", "profilePrompt", reads, h.profilePrompt, false},
		{"GET", "/profiles/{name}/permit", "profilePermit", reads, h.profilePermit, false},
		{"GET", "/profiles/{name}/tools", "profileTools", reads, h.profileTools, false},
		{"GET", "/profiles/{name}/targets", "profileTargets", reads, h.profileTargets, false},
		{"GET", "/commands", "listCommands", reads, h.commands, false},
	}
}

func (h *Host) sessionRoutes() []operation {
	return []operation{
		{"POST", "/chat", "chat", runs, h.chat, false},
		{"POST", "/stream", "stream", runs, h.stream, false},
		{"POST", "/compare", "compare", runs, h.compare, false},

		{"GET", "/sessions", "listSessions", reads, h.listSessions, false},
		{"POST", "/sessions", "createSession", runs, h.createSession, false},
		{"GET", "/sessions/{id}", "getSession", reads, h.getSession, false},
		{"PATCH", "/sessions/{id}", "patchSession", runs, h.patchSession, false},
		{"DELETE", "/sessions/{id}", "deleteSession", runs, h.deleteSession, false},
		{"GET", "/sessions/{id}/messages", "sessionMessages", reads, h.messages, false},
		{"GET", "/sessions/{id}/tree", "sessionTree", reads, h.tree, false},
		{"GET", "/sessions/{id}/requests/{turn}", "sessionRequest", reads, h.request, false},
		{"GET", "/sessions/{id}/events", "sessionEvents", reads, h.events, true},
		{"GET", "/events", "tenantEvents", reads, h.feed, true},
		{"POST", "/sessions/{id}/prompt", "promptSession", runs, h.prompt, false},
		{"POST", "/sessions/{id}/steer", "steerSession", runs, h.steer, false},
		{"POST", "/sessions/{id}/followup", "followupSession", runs, h.followup, false},
		{"POST", "/sessions/{id}/cancel", "cancelSession", runs, h.cancel, false},
		{"POST", "/sessions/{id}/fork", "forkSession", runs, h.fork, false},
		{"POST", "/sessions/{id}/revert", "revertSession", runs, h.revert, false},
		{"POST", "/sessions/{id}/rerun", "rerunSession", runs, h.rerun, false},
		{"POST", "/sessions/{id}/undo", "undoSession", runs, h.undo, false},
		{"GET", "/sessions/{id}/approvals", "sessionApprovals", reads, h.sessionApprovals, false},
		{"POST", "/sessions/{id}/answers", "answerQuestion", answers, h.answerQuestion, false},

		{"GET", "/usage", "usage", reads, h.usage, false},
		{"GET", "/approvals", "listApprovals", reads, h.approvals, false},
		{"POST", "/approvals/{id}", "answerApproval", identity.Approver, h.answerApproval, false},
	}
}

// openaiRoutes are for clients that speak the protocol of OpenAI.
func (h *Host) openaiRoutes() []operation {
	return []operation{
		{"GET", "/v1/models", "listOpenAIModels", reads, h.models, false},
		{"GET", "/v1/models/{model}", "getOpenAIModel", reads, h.model, false},
		{"POST", "/v1/chat/completions", "chatCompletions", runs, h.completions, false},
	}
}

// lookRoutes are what there is to work with.
func (h *Host) lookRoutes() []operation {
	return []operation{
		{"GET", "/profiles/{name}/spec", "profileSpec", reads, h.profileSpec, false},
		{"GET", "/models", "listModels", reads, h.listModels, false},
		{"GET", "/models/{ref}", "getModel", reads, h.getModel, false},
		{"GET", "/tools", "listTools", reads, h.listTools, false},
		{"GET", "/doctor", "doctor", admins, h.doctor, false},
		{"GET", "/sessions/{id}/export", "exportSession", reads, h.export, false},
		{"POST", "/sessions/-/import", "importSession", runs, h.imported, false},
	}
}

func (h *Host) serverRoutes() []operation {
	return []operation{
		{"GET", "/mcp-servers", "listServers", reads, h.listServers, false},
		{"GET", "/mcp-servers/{name}", "getServer", reads, h.getServer, false},
		{"POST", "/mcp-servers/{name}", "createServer", admins, h.createServer, false},
		{"PUT", "/mcp-servers/{name}", "putServer", admins, h.putServer, false},
		{"DELETE", "/mcp-servers/{name}", "deleteServer", admins, h.deleteServer, false},
		{"POST", "/mcp-servers/{name}/restart", "restartServer", admins, h.restartServer, false},
	}
}

func (h *Host) rigRoutes() []operation {
	return []operation{
		{"GET", "/rigs", "listRigs", reads, h.listRigs, false},
		{"GET", "/rigs/{rig}", "getRig", reads, h.getRig, false},
		{"GET", "/rigs/{rig}/check", "checkRig", reads, h.checkRig, false},
		{"GET", "/rigs/{rig}/graph", "rigGraph", reads, h.rigGraph, false},
		{"GET", "/rigs/{rig}/tie-offs", "listTieOffs", reads, h.listTieOffs, false},
		{"GET", "/rigs/{rig}/jobs", "listRigJobs", reads, h.listRigJobs, false},
		{"POST", "/rigs/{rig}/jobs", "askKnot", runs, h.askKnot, false},
		{"GET", "/rigs/{rig}/jobs/{id}", "getRigJob", reads, h.getRigJob, false},
		{"DELETE", "/rigs/{rig}/jobs/{id}", "dropRigJob", runs, h.dropRigJob, false},
		{"POST", "/rigs/{rig}/jobs/{id}/replay", "replayRigJob", runs, h.replayRigJob, false},
	}
}

// mount has the routes served.
func (h *Host) mount() {
	m := h.mux
	m.NotFound(h.handle(noRoute))
	m.MethodNotAllowed(h.handle(h.wrongMethod))
	for _, path := range []string{"/", "/assets/{file}", "/favicon.svg"} {
		if h.deps.Page != nil {
			m.Get(path, h.page(path))
			m.Head(path, h.page(path))
		}
	}
	for _, o := range h.operations() {
		f := h.handle(h.asked(o))
		switch o.method {
		case "":
			m.Handle(o.path, f)
			continue
		case http.MethodGet:
			if !o.live {
				m.Head(o.path, f) // net/http leaves the body out
			}
		}
		m.Method(o.method, o.path, f)
	}
}

// page serves the web page's files of a route.
func (h *Host) page(route string) http.HandlerFunc {
	return h.handle(func(w *response, r *http.Request) error {
		w.route = route
		h.deps.Page.ServeHTTP(w, r)
		return nil
	})
}

// asked serves the requests of callers who may send them.
func (h *Host) asked(o operation) func(*response, *http.Request) error {
	return func(w *response, r *http.Request) error {
		w.route = o.path
		if o.role == anybody {
			return o.serve(w, r)
		}
		w.asked = &o
		c, err := h.identify(r)
		w.caller = c
		if err == nil && h.deps.Admit != nil {
			err = h.deps.Admit(c)
		}
		if err == nil {
			err = mayDo(c, o.role)
		}
		if err == nil && o.method != "" { // else it is another protocol's
			err = media(r)
		}
		if err != nil {
			return err
		}
		ctx, done := h.whileKnown(c, r)
		defer done()
		w.let = r.WithContext(identity.With(ctx, c))
		return o.serve(w, w.let)
	}
}
