package shell

import (
	"slices"
	"strings"
)

// quiet are commands that change no file, whatever their arguments are.
var quiet = strings.Fields("[ basename cat cd cksum cmp comm cut df diff dirname du echo egrep expand expr false fgrep fold " +
	"grep groups head hexdump hostname id join ls md5sum nl nproc od paste printenv ps pwd readlink realpath " +
	"rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat strings sum tac tail test tr true tsort uname unexpand uptime wc which who whoami")

// except are commands that change no file but with an argument that begins so.
var except = map[string][]string{
	"date":   {"-s", "--s"},
	"find":   {"-delete", "-exec", "-ok", "-fprint", "-fls"},
	"jq":     {"-i", "--in"},
	"printf": {"-v"},
	"rg":     {"--pre", "--hostname-bin"},
	"sort":   {"-", "+"},
	"tree":   {"-o", "--output"},
}

// repository are the subcommands of git that change no file of the working tree,
// but with an argument that begins as in gitExcept.
var (
	repository = strings.Fields("blame cat-file describe diff log ls-files ls-tree merge-base name-rev rev-list rev-parse shortlog show status")
	gitExcept  = []string{"--output", "-o", "--ext-diff", "--textconv", "--exec"}
)

// ReadOnly says that no command of the line changes a file, and that the line
// opens none for writing but /dev/null. What it does not know may change some.
func (l *Line) ReadOnly() bool {
	if l.Unknown {
		return false
	}
	for _, r := range l.Redirects {
		if name, known := r.Path.Literal(); r.Write && (!known || name != "/dev/null") {
			return false
		}
	}
	return !slices.ContainsFunc(l.Commands, func(c Command) bool { return !c.readOnly() })
}

func (c Command) readOnly() bool {
	name, known := c.Words[0].Literal()
	if !known {
		return false
	}
	if slices.Contains(quiet, name) {
		return true
	}
	args := make([]string, len(c.Words)-1)
	for i, w := range c.Words[1:] {
		if args[i], known = w.Literal(); !known {
			return false // it may be anything
		}
	}
	begin, ok := except[name]
	if name == "git" && len(args) > 0 && slices.Contains(repository, args[0]) {
		begin, ok = gitExcept, true
	}
	return ok && !slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(begin, func(p string) bool { return strings.HasPrefix(a, p) })
	})
}
