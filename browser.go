package roster

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/browser"
	"github.com/rosterrun/roster/tool/contract"
)

// browserOf is the capability of a browser, of those who list a tool of it.
func (a *App) browserOf(s *spec.Spec) ([]engine.Capability, error) {
	if !lists(s, contract.Browser) {
		return nil, nil
	}
	o := browser.Options{Settings: s.ToolSettings[browser.OpenName], Set: &a.browsers}
	o.Program, o.Missing, _ = a.browserProgram()
	o.Exec, o.Hold = a.helper()
	for _, v := range a.Config().Web.Allow {
		o.Allow = append(o.Allow, v.V)
	}
	kit, err := browser.New(o)
	if err != nil {
		return nil, err
	}
	return []engine.Capability{{
		Name: string(contract.Browser), Summary: contract.Browser.Summary(), Tools: kit.Tools(),
		Open: func(ctx context.Context, s engine.Scope) (io.Closer, error) {
			return kit.Open(ctx, browser.Run{Key: s.Key, Session: s.Session})
		},
	}}, nil
}

// lists says whether a spec lists a tool of a group.
func lists(s *spec.Spec, g contract.Group) bool {
	return slices.ContainsFunc(contract.In(g), func(name string) bool { return slices.Contains(s.Tools, name) })
}

// browserProgram is the file of the browser, or why there is none and what to do. It
// starts nothing.
func (a *App) browserProgram() (file, missing, remedy string) {
	cfg := a.Config().Web
	switch named := cfg.Browser.V; {
	case runtime.GOOS != "linux":
		return "", "a browser is only used on Linux, where nothing of it can be left behind", ""
	case cfg.Proxy.Set:
		return "", fmt.Sprintf("web.proxy is set (%s), and the browser cannot use it", cfg.Proxy.At), "take web.proxy out"
	case named == "none":
		return "", fmt.Sprintf("it is turned off by web.browser (%s)", cfg.Browser.At), ""
	case named != "":
		if info, err := os.Stat(named); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return "", fmt.Sprintf("%s, which web.browser names (%s), is no program", named, cfg.Browser.At), "correct web.browser, or take it out"
		}
		return named, "", ""
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := lookPath(name); err == nil {
			return path, "", ""
		}
	}
	return "", "there is no Chromium on this machine", "install chromium, or name its file under web.browser in roster.yaml"
}

// noBrowser notes that a profile lists what cannot be used.
func (a *App) noBrowser(s *spec.Spec) []profile.Diagnostic {
	if !lists(s, contract.Browser) {
		return nil
	}
	_, missing, remedy := a.browserProgram()
	if missing == "" {
		return nil
	}
	return []profile.Diagnostic{profile.Diagnose(profile.CodeNoBrowser, s.Origins["tools"].Origin, "tools",
		"tools lists the browser, which is not offered: "+missing, remedy)}
}
