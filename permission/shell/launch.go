package shell

import (
	"path"
	"slices"
	"strings"
)

// launches says whether the command runs another one that its words give, so
// that judging the words as written would judge the wrong command. It knows
// the usual programs, and the builtins of bash that evaluate their arguments:
// quoted, they parse as simple commands. Interpreters are judged as written.
func launches(words []string) bool {
	args := words[1:]
	switch name := path.Base(words[0]); name {
	case "env", "sudo", "doas", "su", "runuser", "pkexec", "xargs", "parallel", "timeout", "nohup", "nice", "ionice",
		"chrt", "taskset", "setsid", "setarch", "stdbuf", "chroot", "unshare", "nsenter", "busybox", "toybox", "strace",
		"ltrace", "watch", "script", "flock", "time", "coproc", "run-parts", "systemd-run":
		return true
	case "command", "builtin", "exec", "eval", "source", ".", "trap", "enable", "hash", "fc", "jobs", "bind",
		"compgen", "complete", "mapfile", "readarray",
		// These expand what stands between the brackets of a name: a[$(rm x)].
		"let", "declare", "typeset", "local", "export", "readonly", "unset", "read", "getopts", "wait":
		return true
	case "printf":
		return slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-v") })
	case "test", "[":
		return slices.Contains(args, "-v") || slices.Contains(args, "-R")
	case "sh", "bash", "rbash", "dash", "zsh", "ksh", "ash", "fish":
		return len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "+")
	case "find":
		return slices.ContainsFunc(args, func(w string) bool {
			return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")
		})
	case "git":
		return configures(args)
	default:
		return strings.ContainsAny(words[0], " \t\n") || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld.so")
	}
}

// configures says whether git is given settings before its subcommand: they
// may name programs to run.
func configures(args []string) bool {
	for i := 0; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		switch w := args[i]; {
		case w == "-c" || strings.HasPrefix(w, "--config-env") || strings.HasPrefix(w, "--exec-path="):
			return true
		case w == "-C" || w == "--git-dir" || w == "--work-tree" || w == "--namespace":
			i++ // its value
		}
	}
	return false
}
