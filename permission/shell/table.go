package shell

import (
	"slices"
	"strings"
)

// The table of programs that run what they are given. A program that is not in
// it runs what is written; so does an interpreter or build tool that is given
// a file.

// wrapper is a program that runs its last words as a command, and is seen
// through. With another option than these, anything may run.
type wrapper struct {
	flags, valued string // single letters, the second with a value
	long          string // names; with "=" at the end those with a value
	skip          int    // words before the command
	assigns       bool   // X=1 may stand before the command
	also          bool   // is judged itself too: it runs the command as somebody else
}

var wrappers = map[string]wrapper{
	"busybox":   {},
	"chronic":   {},
	"doas":      {flags: "n", valued: "u", also: true},
	"eatmydata": {},
	"exec":      {flags: "cl", valued: "a"},
	"ionice":    {flags: "t", valued: "cn", long: "class= classdata= ignore"},
	"nice":      {valued: "n", long: "adjustment="},
	"nohup":     {},
	"setsid":    {flags: "cfw", long: "ctty fork wait"},
	"stdbuf":    {valued: "ioe", long: "input= output= error="},
	"sudo": {flags: "AbBEHknPS", valued: "Cgpu", assigns: true, also: true,
		long: "askpass background preserve-env set-home non-interactive user= group= prompt= close-from="},
	"time":     {flags: "pv", long: "portability verbose"},
	"timeout":  {flags: "fpv", valued: "ks", long: "foreground preserve-status verbose kill-after= signal=", skip: 1},
	"toybox":   {},
	"unbuffer": {},
}

// holes are programs that run what they are given in ways of their own:
// elsewhere, later, as somebody else, from a language of their own.
var holes = set(". alias at batch bind bwrap bunx chroot chrt compgen complete compopt cpulimit crontab csh dbus-run-session " +
	"debugfs dtach ed elvish emacs emacsclient enable entr ex expect fakeroot fc firejail fish flock gdb gnuplot gosu hash hyperfine " +
	"let linux32 linux64 lldb ltrace m4 mosh nc ncat netcat newgrp npx nsenter numactl nvim parallel perf pkexec pnpx " +
	"prlimit proot rsh run-parts runuser rush rvim screen script setarch setpriv sg socat source ssh sshpass " +
	"start-stop-daemon strace su su-exec systemd-run taskset tclsh tcsh tmux unshare uvx valgrind vi view vim watch wish xvfb-run")

func set(names string) map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

// optionLauncher is a program that runs what some of its options name.
type optionLauncher struct {
	letters string // also within -abc
	long    string // also abbreviated, also with one dash
	bundled bool   // the first word may be letters without a dash
}

var optionLaunchers = map[string]optionLauncher{
	"apt":     {letters: "co", long: "option config-file"},
	"apt-get": {letters: "co", long: "option config-file"},
	"bsdtar":  {letters: "IF", long: "use-compress-program", bundled: true},
	"cc":      {long: "wrapper fplugin specs"},
	"clang":   {long: "fplugin load"},
	"cmake":   {letters: "EP"},
	"cpio":    {long: "rsh-command"},
	"dpkg":    {long: "pre-invoke post-invoke status-logger"},
	"fd":      {letters: "xX", long: "exec exec-batch"},
	"fdfind":  {letters: "xX", long: "exec exec-batch"},
	"g++":     {long: "wrapper fplugin specs"},
	"gcc":     {long: "wrapper fplugin specs"},
	"go":      {long: "exec toolexec vettool"},
	"install": {long: "strip-program"},
	"jobs":    {letters: "x"},
	"less":    {letters: "k", long: "lesskey-src"},
	"man":     {letters: "PH", long: "pager html"},
	"rg":      {long: "pre hostname-bin"},
	"rsync":   {letters: "eM", long: "rsh rsync-path remote-option"},
	"scp":     {letters: "FSo"},
	"sftp":    {letters: "FSobDs"},
	"sort":    {long: "compress-program"},
	"split":   {long: "filter"},
	"tar": {letters: "IF", bundled: true, long: "to-command checkpoint-action use-compress-program info-script new-volume-script " +
		"rsh-command rmt-command"},
	"tcpdump": {letters: "z"},
	"wait":    {letters: "p"},
	"wget":    {letters: "e", long: "execute use-askpass"},
	"zip":     {letters: "T", long: "unzip-command test"},
}

func (o optionLauncher) launches(words []word) bool {
	for i, w := range words {
		s := w.String()
		switch {
		case w.opens() || w.split: // may be any option
			return true
		case s == "--":
			return false
		case strings.HasPrefix(s, "+"), o.bundled && i == 0 && strings.ContainsAny(s, o.letters):
			return true
		case len(s) < 2 || s[0] != '-':
			continue
		case s[1] != '-' && strings.ContainsAny(s, o.letters) || o.names(s):
			return true
		}
	}
	return false
}

// names says whether a word begins one of the long options.
func (o optionLauncher) names(s string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(s, "-"), "=")
	if name == "" || s[1] != '-' && len(name) == 1 {
		return false
	}
	for long := range strings.FieldsSeq(o.long) {
		if strings.HasPrefix(long, name) || s[1] != '-' && strings.HasPrefix(name, long) {
			return true
		}
	}
	return false
}

// subLaunchers are programs of which some subcommands run a command: those
// that end in "+" are seen through.
var subLaunchers = map[string]string{
	"asdf":    "exec",
	"bun":     "x -e --eval -p --print",
	"bundle":  "exec+",
	"cargo":   "watch",
	"conda":   "run",
	"deno":    "eval repl",
	"direnv":  "exec",
	"docker":  "run exec create compose container buildx stack service",
	"hatch":   "run env",
	"kubectl": "exec run debug",
	"mise":    "exec x run",
	"nerdctl": "run exec create compose",
	"nix":     "run shell develop",
	"npm":     "exec x explore",
	"pdm":     "run+",
	"pipenv":  "run+ shell",
	"pipx":    "run",
	"pnpm":    "exec dlx",
	"podman":  "run exec create compose container",
	"poetry":  "run+ shell",
	"rye":     "run+",
	"uv":      "run+ tool",
	"yarn":    "exec dlx",
}

// subLauncher looks at the first word that is no option. An option before it,
// which may take a value, could hide it.
func (a *analyzer) subLauncher(c call, subs string) {
	first, rest := word{}, c.words[1:]
	if len(rest) > 0 {
		first, rest = rest[0], rest[1:]
	}
	sub, known := first.Literal()
	list := strings.Fields(subs)
	switch {
	case !known || first.split, slices.Contains(list, sub):
		a.judged(c, true)
	case slices.Contains(list, sub+"+"):
		_, inner, ok := options(rest, "", "", "")
		a.judged(c, !ok)
		if ok && len(inner) > 0 {
			a.through(c, inner)
		}
	case strings.HasPrefix(sub, "-"):
		hidden := slices.ContainsFunc(rest, func(w word) bool {
			s, known := w.Literal()
			return !known || slices.Contains(list, s) || slices.Contains(list, s+"+")
		})
		a.judged(c, hidden)
	default:
		a.judged(c, false)
	}
}

// interpreters run the program text that their words give. A file is judged as
// written, also behind these options; any other option, and no file at all,
// may run anything.
var interpreters = map[string]string{
	"fish": "", "ghci": "", "groovy": "", "guile": "", "iex": "", "elixir": "", "erl": "", "escript": "",
	"ipython": "", "irb": "", "jshell": "", "julia": "", "ksh": "", "lua": "-v", "luajit": "-v", "mksh": "", "node": "--version -v --test --check",
	"nodejs": "--version -v", "nu": "", "ocaml": "", "octave": "", "osascript": "", "perl": "-w -v --version",
	"php": "-v -l --version", "powershell": "", "pwsh": "", "pypy": "-u -B -V --version -m", "python": "-u -B -E -s -S -I -O -q -V --version -m",
	"racket": "", "rbash": "", "rscript": "--vanilla --version", "ruby": "-w -v --version", "runghc": "", "scala": "",
	"swipl": "", "ts-node": "", "tsx": "", "xonsh": "", "yash": "", "zsh": "",
}

// interpreter finds a name with or without its version: python3.12.
func interpreter(base string) (safe string, ok bool) {
	if safe, ok = interpreters[base]; ok {
		return safe, true
	}
	safe, ok = interpreters[strings.TrimRight(base, "0123456789.-")]
	return safe, ok
}

func interprets(words []word, safe string) bool {
	options := strings.Fields(safe)
	for i, w := range words {
		s, known := w.Literal()
		switch {
		case !known && (w.opens() || w.split), s == "-", strings.HasPrefix(s, "/dev/"), strings.HasPrefix(s, "/proc/"):
			return true
		case !strings.HasPrefix(w.String(), "-"):
			return false
		case !slices.Contains(options, s):
			return true
		case s == "-m":
			module := ""
			if len(words) > i+1 {
				module = words[i+1].String()
			}
			return slices.Contains([]string{"", "code", "pdb", "timeit", "trace", "profile", "cProfile"}, module) || words[i+1].opens()
		case s == "--version", s == "-V", s == "-v":
			return len(words) > 1
		}
	}
	return true
}

// others are the programs that are treated one by one.
var others = set("env xargs find bash sh dash ash git awk gawk mawk nawk sed gsed make gmake eval command builtin trap")

// Launcher says whether a program runs what its words give it, so that a rule
// for it covers more than it names.
func Launcher(name string) bool {
	_, wraps := wrappers[name]
	_, opts := optionLaunchers[name]
	_, subs := subLaunchers[name]
	_, interprets := interpreter(name)
	return wraps || opts || subs || interprets || holes[name] || others[name]
}

// FirstLauncher gives the first Launcher by name for which match says yes.
func FirstLauncher(match func(name string) bool) (name string, found bool) {
	try := func(n string) {
		if (!found || n < name) && match(n) {
			name, found = n, true
		}
	}
	for n := range wrappers {
		try(n)
	}
	for n := range optionLaunchers {
		try(n)
	}
	for n := range subLaunchers {
		try(n)
	}
	for n := range interpreters {
		try(n)
	}
	for n := range holes {
		try(n)
	}
	for n := range others {
		try(n)
	}
	return name, found
}
