package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/rosterrun/roster/sandbox"
)

// dirPattern begins the names of the folders that browsers have.
const dirPattern = "roster-browser-"

// launched is a browser that runs: under the exec helper, which ends it with all
// that it started when it is told to and when this process dies.
type launched struct {
	*pipe
	dir    string
	lock   *os.File
	cancel context.CancelFunc
	done   sync.WaitGroup
	stderr *tail
	in     *os.File
	out    *os.File
	ran    error // of the helper, once done
}

// script gives the browser the pipes that it speaks over, as it wants them.
const script = `exec "$@" 3<&0 4>&1 </dev/null >/dev/null`

// launch starts a browser whose only way out is the proxy.
func (o *Options) launch(proxy string, event func(session, method string, params json.RawMessage)) (l *launched, err error) {
	dir, lock, err := profileDir(tempDir())
	if err != nil {
		return nil, err
	}
	l = &launched{dir: dir, lock: lock, stderr: new(tail)}
	defer func() {
		if err != nil {
			l.clean()
		}
	}()
	box, err := wall(dir, o.Program, proxy)
	if err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, err
	}
	l.in, l.out = in, out
	l.pipe = newPipe(in)
	l.event = event
	cmd := sandbox.Command{
		Helper: o.Exec, Argv: append([]string{"/bin/sh", "-c", script, "sh"}, o.argv(dir, proxy)...), Box: box, Dir: dir,
		Env: environ(dir), Stdin: theirIn, Stdout: theirOut, Stderr: l.stderr, Hold: o.Hold,
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.done.Go(func() {
		_, l.ran = cmd.Run(ctx)
		theirIn.Close()
		theirOut.Close()
	})
	l.done.Go(func() { l.read(out) })
	return l, nil
}

// close ends the browser, and returns when nothing of it is left.
func (l *launched) close() {
	l.end(errGone)
	l.cancel()
	l.in.Close()
	l.done.Wait()
	l.out.Close()
	l.clean()
}

func (l *launched) clean() {
	_ = os.RemoveAll(l.dir)
	l.lock.Close()
}

// wall is what the browser is behind, besides the one that it has itself: of files
// it reaches the system's, and its own folder; of TCP ports that of the proxy.
func wall(dir, program, proxy string) (sandbox.Box, error) {
	if err := sandbox.Probe(sandbox.Landlock); err != nil {
		if os.Geteuid() == 0 {
			return sandbox.Box{}, fmt.Errorf("the browser has no wall of its own when root runs it, and the one of the kernel is not there: %w; run roster as another user", err)
		}
		return sandbox.Box{}, nil
	}
	read := []string{filepath.Dir(program)}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		read = append(read, filepath.Dir(real))
	}
	write := []string{dir}
	if os.Geteuid() != 0 {
		write = append(write, "/proc") // where its own wall says who is who inside
	}
	to, err := netip.ParseAddrPort(proxy)
	return sandbox.Box{Kind: sandbox.Landlock, Write: write, Temp: dir, Read: read, Network: true, Connect: []int{int(to.Port())}}, err
}

// environ is what the browser gets: no keys, and nobody's home.
func environ(dir string) []string {
	env := []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "DBUS_SESSION_BUS_ADDRESS=disabled:", "DBUS_SYSTEM_BUS_ADDRESS=disabled:"}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// argv is the browser's command line: it asks nobody anything by itself, and has no
// other way out than the proxy, for names and UDP neither.
func (o *Options) argv(dir, proxy string) []string {
	argv := []string{
		o.Program, "--headless", "--remote-debugging-pipe", "--user-data-dir=" + dir, "--window-size=1280,800", "--hide-scrollbars",
		"--proxy-server=http://" + proxy, "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--dns-prefetch-disable", "--no-pings", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-default-apps", "--disable-extensions",
		"--disable-component-extensions-with-background-pages", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only",
		"--no-first-run", "--no-default-browser-check", "--no-service-autorun", "--password-store=basic", "--use-mock-keychain",
		"--disable-dev-shm-usage", "--disable-gpu", "--mute-audio", "--block-new-web-contents", "--deny-permission-prompts", "--disable-print-preview",
		"--disable-notifications", "--disable-speech-api", "--disable-file-system", "--js-flags=--max-old-space-size=512",
		"--disable-features=OptimizationHints,OptimizationGuideModelDownloading,OptimizationGuideOnDeviceModel,MediaRouter,DialMediaRouteProvider,Translate,InterestFeedContentSuggestions,AutofillServerCommunication,CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,SafeBrowsing,WebUSB,WebBluetooth,DirectSockets,PdfOopif",
	}
	if os.Geteuid() == 0 {
		argv = append(argv, "--no-sandbox") // it refuses to run otherwise; the wall stays
	}
	return append(argv, "about:blank")
}

// tempDir is where the folders of browsers are. A browser has sockets in it, whose
// paths may have 107 bytes.
func tempDir() string {
	if dir := os.TempDir(); len(dir) <= 32 {
		return dir
	}
	return "/tmp"
}

// profileDir makes the folder of one browser, and takes away those of browsers
// whose process was killed before it could: nobody holds the locks of those.
func profileDir(in string) (string, *os.File, error) {
	old, _ := filepath.Glob(filepath.Join(in, dirPattern+"*"))
	for _, dir := range old {
		if lock, err := os.OpenFile(filepath.Join(dir, "roster.lock"), os.O_RDWR|syscall.O_NOFOLLOW, 0); err == nil {
			if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				_ = os.RemoveAll(dir)
			}
			lock.Close()
		}
	}
	dir, err := os.MkdirTemp(in, dirPattern)
	if err != nil {
		return "", nil, fmt.Errorf("the browser's folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "roster.lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the browser's folder: %w", err), os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const maxTail = 4 << 10 // bytes

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if n := len(t.data) - maxTail; n > 0 {
		t.data = append(t.data[:0], t.data[n:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.data))
}
