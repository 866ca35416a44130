package uitest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/rosterrun/roster"
)

// counted is a text that is told apart from others by its letter, and whose pieces are in
// order only if none is lost and none comes twice.
func counted(letter string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%s%d", letter, i+1)
	}
	return strings.Join(words, " ")
}

func begin(p *tab, profile, prompt string) {
	p.Helper()
	p.show("/new/" + profile)
	p.fill("Prompt", prompt)
	p.press("main button", "Begin")
	p.until(`location.hash.startsWith("#/sessions/")`)
}

// answers are the answers of a session as they are shown.
func (p *tab) answers() []string {
	p.Helper()
	return evaluate[[]string](p, `[...document.querySelectorAll("article[aria-label=Answer]")].map((e) => e.innerText.trim())`)
}

// TestTwoTabs: two sessions that run at a time are followed in two tabs, and each shows
// its own.
func TestTwoTabs(t *testing.T) {
	apples, pears := counted("a", 40), counted("p", 40)
	left := newDesk(t, map[string]string{
		"profiles/clerk.md": clerk, "roster.yaml": keeperConfig,
		"scripts/keeper.yaml": fmt.Sprintf("replies:\n  - {when: {contains: apples}, text: %q, gap: 100ms}\n  - {when: {contains: pears}, text: %q, gap: 100ms}\n", apples, pears),
	})
	right := left.another()
	begin(left.tab, "clerk", "Count apples.")
	begin(right, "clerk", "Count pears.")
	for _, p := range []*tab{left.tab, right} {
		p.until(`document.querySelector("article[aria-label=Answer]").innerText.length > 4`)
		p.shows("running")
	}
	if a, b := left.answers(), right.answers(); a[0] == apples || b[0] == pears {
		t.Errorf("the first is done before the second begins: %q, %q", a, b)
	}
	for _, c := range []struct {
		*tab
		want string
	}{{left.tab, apples}, {right, pears}} {
		c.until(`document.querySelector("h1").innerText.includes("idle")`)
		if got := c.answers(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q is shown", got)
		}
		c.wrong("the console", c.told())
	}
}

// TestManyWindows: four sessions are followed side by side, and a fifth window still gets
// what it asks for: a browser has but six connections for all of them.
func TestManyWindows(t *testing.T) {
	first := newDesk(t, map[string]string{
		"profiles/clerk.md": clerk, "roster.yaml": keeperConfig, "scripts/keeper.yaml": fmt.Sprintf("replies:\n  - {text: %q, gap: 100ms}\n", counted("a", 60)),
	})
	begin(first.tab, "clerk", "Count apples.")
	all := []*tab{first.tab}
	for range 3 {
		p := first.another()
		begin(p, "clerk", "Count apples.")
		all = append(all, p)
	}
	last := first.another()
	last.show("/sessions")
	last.shows("Count apples.")
	last.press("main a", "Count apples.")
	last.press("main button", "Fork")
	last.shows("Branch of")
	for _, p := range all {
		p.shows("a60")
		p.until(`document.querySelector("h1").innerText.includes("idle")`)
		p.wrong("the console", p.told())
	}
}

// TestManyTabs: tabs that nobody looks at hold no connection, of which a browser has but
// six for all of them, and know all that has happened when they are looked at again.
func TestManyTabs(t *testing.T) {
	const hide = `Object.defineProperty(document, "hidden", { value: %t, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`
	apples := counted("a", 40)
	first := newDesk(t, map[string]string{
		"profiles/clerk.md": clerk, "roster.yaml": keeperConfig, "scripts/keeper.yaml": fmt.Sprintf("replies:\n  - {text: %q, gap: 50ms}\n", apples),
	})
	begin(first.tab, "clerk", "Count apples.")
	first.shows("a3 ")
	session := strings.TrimPrefix(evaluate[string](first.tab, `location.hash`), "#")
	evaluate[chromedp.Void](first.tab, fmt.Sprintf(hide, true))
	for range 7 {
		p := first.another()
		p.show(session)
		p.shows("Count apples.")
		evaluate[chromedp.Void](p, fmt.Sprintf(hide, true))
	}
	last := first.another()
	last.show(session)
	last.shows("a40")
	if got := first.answers(); len(got) != 1 || strings.Contains(got[0], "a40") {
		t.Errorf("the tab that nobody looks at shows %q", got)
	}
	evaluate[chromedp.Void](first.tab, fmt.Sprintf(hide, false))
	first.until(`document.querySelector("h1").innerText.includes("idle")`)
	if got := first.answers(); !slices.Equal(got, []string{apples}) {
		t.Errorf("the tab that is looked at again shows %q", got)
	}
	first.wrong("the console", first.told())
}

// lost is how long a server is away.
const lost = 10 * time.Second

// TestServerIsLost: a tab that follows a session loses the server for ten seconds, once
// because the network is away and once because the program was killed. It says so, keeps
// what somebody writes meanwhile, and when the server is back shows all that there is,
// and nothing twice.
func TestServerIsLost(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, string) *outage{"network": noNetwork, "program": killed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var replies strings.Builder
			want := []string{}
			for i, letter := range strings.Split("abcdef", "") {
				want = append(want, counted(letter, 30))
				fmt.Fprintf(&replies, "  - {text: %q, gap: 50ms", want[i])
				if letter != "f" {
					replies.WriteString(", tools: [{name: read, input: {path: profiles/clerk.md}}]")
				}
				replies.WriteString("}\n")
			}
			dir := t.TempDir()
			write(t, dir, "profiles/clerk.md", clerk+"\n")
			write(t, dir, "roster.yaml", keeperConfig)
			write(t, dir, "scripts/keeper.yaml", "replies:\n"+replies.String())
			loseServer(t, begin(t, dir), want)
		})
	}
}

func loseServer(t *testing.T, o *outage, want []string) {
	p := open(t, o.url)
	p.size(1280, 4000) // all of the session is in the page
	begin(p, "clerk", "Count.")
	p.shows("b10 ")
	o.away()
	p.shows("connection lost, trying again")
	p.fill("Message", "Are you there?")
	p.press("main button", "Steer")
	p.shows("The server does not answer.")
	if left := evaluate[string](p, `document.querySelector("main textarea").value`); left != "Are you there?" {
		t.Errorf("of what was written %q is left", left)
	}
	<-time.After(lost)
	o.back()
	p.until(`document.querySelector("h1").innerText.includes("idle") && !document.querySelector("h1").innerText.includes("lost")`)
	whole := slices.DeleteFunc(p.answers(), func(a string) bool { return strings.HasSuffix(a, "cut off") })
	if !slices.Equal(whole, want) {
		t.Errorf("the answers are\n%s", strings.Join(whole, "\n"))
	}
	again := p.another()
	again.size(1280, 4000)
	again.show(strings.TrimPrefix(evaluate[string](p, `location.hash`), "#"))
	again.shows("f30")
	again.until(`document.querySelector("h1").innerText.includes("idle")`)
	if a, b := p.conversation(), again.conversation(); !slices.Equal(a, b) {
		t.Errorf("who stayed sees\n%s\nwho comes anew sees\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	p.wrong("the console", p.told(missing))
	p.wrong("the policy", p.refused())
}

// outage is a server that can go away, and comes back at the same address.
type outage struct {
	url        string
	away, back func()
}

// noNetwork has a server that works on while nobody can reach it.
func noNetwork(t *testing.T, dir string) *outage {
	app, err := roster.NewApp(roster.Options{Dir: dir, State: t.TempDir(), Getenv: options(t.TempDir()).Getenv, Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	var server *http.Server
	addr := "127.0.0.1:0"
	served := make(chan error, 1)
	back := func() {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		addr = l.Addr().String()
		server = &http.Server{Handler: app, ReadHeaderTimeout: patience}
		go func() { served <- server.Serve(l) }()
	}
	away := func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	}
	back()
	t.Cleanup(func() {
		away()
		if err := closeApp(app); err != nil {
			t.Error(err)
		}
	})
	return &outage{"http://" + addr, away, back}
}

// killed has a program that is ended in the middle of what it does.
func killed(t *testing.T, dir string) *outage {
	bin := filepath.Join(t.TempDir(), "roster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/roster").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	home, addr := t.TempDir(), freeAddr(t)
	var program *exec.Cmd
	back := func() {
		program = exec.CommandContext(t.Context(), bin, "serve", "--addr", addr, "--quiet")
		program.Dir, program.Stderr = dir, t.Output()
		program.Env = []string{"ROSTER_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
	}
	away := func() {
		_ = program.Process.Kill()
		_ = program.Wait() // says that it was killed
	}
	back()
	t.Cleanup(away)
	url := "http://" + addr
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(patience); time.Now().Before(late); <-look.C {
		if resp, err := http.Get(url + "/health"); err == nil {
			resp.Body.Close()
			return &outage{url, away, back}
		}
	}
	t.Fatal("the program does not come up")
	return nil
}

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
