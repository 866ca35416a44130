package browser

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/web"
)

// authenticate gives the browser the password of its way out, and of nothing else.
func (p *page) authenticate(session string, params json.RawMessage) {
	var t struct {
		RequestID     string `json:"requestId"`
		AuthChallenge struct {
			Source string `json:"source"`
			Origin string `json:"origin"`
		} `json:"authChallenge"`
	}
	if json.Unmarshal(params, &t) != nil {
		return
	}
	response := map[string]any{"response": "CancelAuth"}
	if at := t.AuthChallenge; at.Source == "Proxy" && strings.TrimPrefix(at.Origin, "http://") == p.proxy.addr() {
		response = map[string]any{"response": "ProvideCredentials", "username": proxyUser, "password": p.proxy.password}
	}
	p.pipe.post(session, "Fetch.continueWithAuth", map[string]any{"requestId": t.RequestID, "authChallengeResponse": response})
}

// judge lets a request go on, or not: where the page itself goes must be allowed as
// a call of browser_open would be; what it loads must not be denied.
func (p *page) judge(session string, params json.RawMessage) {
	var t struct {
		RequestID string `json:"requestId"`
		FrameID   string `json:"frameId"`
		Type      string `json:"resourceType"`
		Request   struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &t) != nil {
		return
	}
	p.mu.Lock()
	main := t.Type == "Document" && t.FrameID == p.frame && session == p.session
	why := p.against(t.Request.URL, main)
	if why != "" {
		if main {
			p.leaving = false
		}
		p.note("%s", why)
	} else if main {
		p.proxy.begin()
	}
	p.mu.Unlock()
	if why != "" {
		reason := "BlockedByClient"
		if main {
			reason = "Aborted" // so that the page stays as it is
		}
		p.pipe.post(session, "Fetch.failRequest", map[string]any{"requestId": t.RequestID, "errorReason": reason})
		return
	}
	p.pipe.post(session, "Fetch.continueRequest", map[string]any{"requestId": t.RequestID})
}

// against is what is against a request; empty: nothing. The caller holds mu.
func (p *page) against(text string, main bool) string {
	u, err := web.ParseURL(text)
	if err != nil {
		return fmt.Sprintf("%s was not loaded: %v", clip(text, 200), err)
	}
	address := u.String()
	if main && p.permitted != nil && p.permitted(address) {
		return ""
	}
	d := p.permit.Decide(permission.Query{Tool: OpenName, Subject: address})
	switch {
	case d.Effect == permission.Allow:
		return ""
	case main && d.Effect == permission.Ask:
		return fmt.Sprintf("the page leads to %s, which is another address to ask for: call %s with it if it is the right one", clip(address, 300), OpenName)
	case main:
		return fmt.Sprintf("the page leads to %s, which is not permitted: %s", clip(address, 300), d.Reason)
	case d.Effect == permission.Deny && d.Step != permission.StepHeadless && d.Step != permission.StepMode:
		return fmt.Sprintf("%s was not loaded: %s", clip(address, 200), d.Reason)
	}
	return ""
}

// adopt has what a page starts, such as frames of others and workers, judged too.
func (p *page) adopt(params json.RawMessage) {
	var t struct {
		Session string `json:"sessionId"`
		Waiting bool   `json:"waitingForDebugger"`
	}
	if json.Unmarshal(params, &t) != nil || !t.Waiting {
		return
	}
	p.pipe.post(t.Session, "Fetch.enable", map[string]any{"handleAuthRequests": true, "patterns": []any{map[string]any{"urlPattern": "*"}}})
	p.pipe.post(t.Session, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
	p.pipe.post(t.Session, "Runtime.runIfWaitingForDebugger", nil)
}

// window closes what a page opens besides itself.
func (p *page) window(params json.RawMessage) {
	var t struct {
		Info struct {
			ID      string `json:"targetId"`
			Type    string `json:"type"`
			URL     string `json:"url"`
			Context string `json:"browserContextId"`
			Opener  string `json:"openerId"`
		} `json:"targetInfo"`
	}
	if json.Unmarshal(params, &t) != nil || t.Info.Type != "page" || t.Info.Opener == "" {
		return
	}
	p.mu.Lock()
	p.note("it wanted to open another window, which was closed")
	p.mu.Unlock()
	p.pipe.post("", "Target.closeTarget", map[string]any{"targetId": t.Info.ID})
}
