package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// controlFD is the read end of the pipe to the parent. Command.Hold comes
	// after it.
	controlFD = 3

	// rulesetFD is the wall that what the helper starts goes behind.
	rulesetFD = 3

	// cancelByte on the pipe, or SIGTERM, asks the command to end and then kills
	// it; the pipe's end, which is the parent's death, kills it at once.
	cancelByte = 'c'

	// orphaned is how often the parent is looked for as well: a command can
	// keep the pipe open.
	orphaned = 250 * time.Millisecond

	// tick is how often what is left is looked for while it is being killed,
	// in case a signal about a child was missed.
	tick = 5 * time.Millisecond
)

// execMain is the helper: it runs the command in args, after the box that it runs
// in, in its own session and process group, and returns the status to exit with. It must have a process
// of its own, started by Command.Run.
func execMain(args []string) int {
	// The kernel kills the command when the thread that started it ends.
	runtime.LockOSThread()
	parent := os.Getppid()
	control, err := controlPipe()
	if err == nil && len(args) < 2 {
		err = errors.New("no command given")
	}
	if err == nil {
		err = adoptOrphans()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "roster exec helper:", err)
		return 2
	}
	h := &helper{parent: parent, exited: make(chan os.Signal, 1)}
	signal.Notify(h.exited, syscall.SIGCHLD)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := h.start(args[0], args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "roster exec helper:", err)
		return NotStarted
	}
	return h.supervise(watch(control), stop)
}

// controlPipe takes over the pipe to the parent, and keeps what is the
// helper's own from the command.
func controlPipe() (*os.File, error) {
	keepFiles()
	if !isPipe(controlFD) {
		return nil, errors.New("this command is for roster's own use: it has no pipe to its parent")
	}
	return os.NewFile(controlFD, "control"), nil
}

func isPipe(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFIFO
}

// keepFirstFiles is for systems that cannot do it for all at once.
func keepFirstFiles() {
	for fd := controlFD; fd < 256; fd++ {
		syscall.CloseOnExec(fd)
	}
}

// watch reports once: true if the parent cancels, false if it is gone. Its
// goroutine ends with the process.
func watch(control *os.File) <-chan bool {
	told := make(chan bool, 1)
	go func() {
		var b [1]byte
		n, _ := control.Read(b[:])
		told <- n == 1 && b[0] == cancelByte
	}()
	return told
}

type helper struct {
	parent int
	pid    int // of the command, also its process group
	done   bool
	status syscall.WaitStatus
	exited chan os.Signal
	said   *os.File // by bwrap, which then is between the helper and the command; else nil
	// remove ends the container that the command is in; else nil.
	remove func() error
}

func (h *helper) start(text string, args []string) error {
	b, err := parseBox(text)
	if err != nil {
		return err
	}
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	path := args[0]
	switch b.Kind {
	case Bubblewrap:
		var filter *os.File
		if args, filter, err = b.bubblewrap(b.Program, args); err != nil {
			return err
		}
		defer filter.Close()
		said, status, err := os.Pipe()
		if err != nil {
			return err
		}
		defer status.Close()
		h.said, files, path = said, append(files, status, filter), b.Program
	case Docker:
		if args, err = b.docker(b.Program, b.Name, args); err != nil {
			return err
		}
		h.remove, path = func() error { return removeContainer(b.Program, b.Name) }, b.Program
	default:
		if path, err = exec.LookPath(path); err != nil {
			return err
		}
		if b.Kind != Landlock {
			break
		}
		wall, err := b.ruleset()
		if err != nil {
			return err
		}
		defer wall.Close()
		files = append(files, wall)
		path, args = behind(path, args)
	}
	p, err := os.StartProcess(path, args, &os.ProcAttr{Files: files, Sys: commandAttr()})
	if err != nil {
		return err
	}
	h.pid = p.Pid
	return nil
}

func (h *helper) supervise(told <-chan bool, stop <-chan os.Signal) int {
	look := time.NewTicker(orphaned)
	defer look.Stop()
	for !h.done {
		graceful := false
		select {
		case <-h.exited:
			h.reap()
			continue
		case <-look.C:
			if os.Getppid() == h.parent {
				continue
			}
		case graceful = <-told:
		case <-stop:
			graceful = true
		}
		if graceful {
			h.terminate()
		}
		break
	}
	byItself := h.done
	// What the command left behind in its group; the number cannot have been
	// given to others yet.
	syscall.Kill(-h.pid, syscall.SIGKILL)
	if !h.killAll() {
		fmt.Fprintln(os.Stderr, "roster exec helper: some processes of the command cannot be ended:", children())
	}
	if ended := !byItself || h.status.Signaled(); ended && h.remove != nil {
		if err := h.remove(); err != nil {
			fmt.Fprintln(os.Stderr, "roster exec helper:", err)
		}
	}
	if h.status.Signaled() {
		return 128 + int(h.status.Signal())
	}
	if h.said != nil && !started(h.said) {
		return NotStarted // bwrap has said why
	}
	return h.status.ExitStatus()
}

// reap collects what has exited. left is false when no child remains.
func (h *helper) reap() (left bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return false
		case pid == 0:
			return true
		case pid == h.pid && (status.Exited() || status.Signaled()):
			h.done, h.status = true, status
		}
	}
}

// terminate asks the command and its children to end, and gives them a moment.
func (h *helper) terminate() {
	if h.said == nil {
		h.signal(syscall.SIGTERM)
	} else {
		// bwrap itself would end, and everything with it, at once.
		for _, pid := range inside(h.pid) {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	grace := time.After(termGrace)
	for h.reap() {
		select {
		case <-h.exited:
		case <-grace:
			return
		}
	}
}

// killAll kills children until none is left. The children of one that dies
// become the helper's own, so that each round reaches one level deeper, and
// only processes that nobody else can reap are ever signalled.
func (h *helper) killAll() bool {
	deadline := time.After(killTime)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for h.reap() {
		h.signal(syscall.SIGKILL)
		select {
		case <-h.exited:
		case <-ticker.C:
		case <-deadline:
			return false
		}
	}
	return true
}

func (h *helper) signal(sig syscall.Signal) {
	if !h.done {
		syscall.Kill(-h.pid, sig)
	}
	for _, pid := range children() {
		syscall.Kill(pid, sig)
	}
}
