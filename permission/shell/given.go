package shell

import (
	"slices"
	"strings"
)

// git lists git as written. Settings and options that name programs, and
// subcommands that run some, may run anything.
func (a *analyzer) git(c call) {
	_, rest, ok := options(c.words[1:], "pPv", "C", "git-dir= work-tree= namespace= no-pager paginate bare no-replace-objects "+
		"literal-pathspecs no-optional-locks version help html-path man-path info-path exec-path no-lazy-fetch")
	if !ok || len(rest) == 0 {
		a.judged(c, !ok)
		return
	}
	sub, known := rest[0].Literal()
	if !known {
		a.judged(c, true)
		return
	}
	rest = rest[1:]
	if sub == "bisect" && len(rest) > 1 && rest[0].String() == "run" {
		a.judged(c, false)
		a.subshell(func() {
			a.dir = directory{unknown: true}
			a.through(c, rest[1:])
		})
		return
	}
	a.judged(c, gitLaunches(sub, rest))
}

func gitLaunches(sub string, args []word) bool {
	transport := slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.String(), "::") })
	switch sub {
	case "difftool", "mergetool", "filter-branch", "send-email", "instaweb", "daemon", "shell", "for-each-repo", "hook", "gui", "citool",
		"credential", "remote-ext", "imap-send", "p4", "svn", "web--browse":
		return true
	case "submodule":
		return slices.ContainsFunc(args, func(w word) bool { return w.opens() || w.String() == "foreach" }) || transport
	case "bisect":
		return len(args) > 0 && args[0].opens()
	case "config":
		return configuresPrograms(args)
	case "rebase":
		return optionLauncher{letters: "x", long: "exec"}.launches(args)
	case "grep":
		return optionLauncher{letters: "O", long: "open-files-in-pager"}.launches(args)
	case "clone":
		return transport || optionLauncher{letters: "cu", long: "config upload-pack template"}.launches(args)
	case "init":
		return optionLauncher{long: "template"}.launches(args)
	case "fetch", "pull", "push", "ls-remote", "archive", "fetch-pack", "send-pack", "remote":
		return transport || optionLauncher{long: "exec upload-pack receive-pack"}.launches(args)
	}
	return false
}

// configuresPrograms says whether git config sets what may name a program.
func configuresPrograms(args []word) bool {
	for _, w := range args {
		switch s, _ := w.Literal(); {
		case s == "get" || s == "list" || s == "-l" || strings.HasPrefix(s, "--get") || s == "--list":
			return false
		case s == "user.name" || s == "user.email":
			return false
		case strings.HasPrefix(s, "-") && s != "-f" && s != "--file":
		default:
			return len(args) > 1
		}
	}
	return false
}

// awkLaunches says whether an awk program may run commands or open files. One
// in a file is judged as written.
func awkLaunches(words []word) bool {
	opts, rest, ok := options(words, "", "Ffv", "field-separator= file= assign= version")
	if !ok {
		return true
	}
	for _, o := range opts {
		if o.name == "f" || o.name == "file" {
			file := o.value.String()
			return o.value.opens() || file == "-" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/")
		}
	}
	if len(rest) == 0 {
		return false
	}
	program, known := rest[0].Literal()
	return !known || strings.ContainsAny(program, "|>@") || strings.Contains(program, "system") || strings.Contains(program, "getline")
}

// makeLaunches says whether make is given rules, or settings with commands.
func makeLaunches(words []word) bool {
	for _, w := range words {
		s := w.String()
		name, value, sets := strings.Cut(s, "=")
		switch {
		case w.opens(), w.split, s == "-", s == "-f-", strings.HasPrefix(s, "--e"), strings.Contains(s, "/dev/"):
			return true
		case strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.Contains(s, "E"):
			return true
		case sets && !strings.HasPrefix(s, "-"):
			if len(w.Word) > 1 || strings.ContainsAny(value, " \t\n$`;|&<>") || strings.ContainsAny(name, "!$") {
				return true
			}
			switch strings.TrimRight(name, ":?+") {
			case "SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS":
				return true
			}
		}
	}
	return false
}

// sedLaunches says whether a sed script may run commands or write files. One
// in a file is judged as written.
func sedLaunches(words []word) bool {
	scripts, operands, file := 0, 0, false
	for i := 0; i < len(words); i++ {
		s, known := words[i].Literal()
		switch {
		case words[i].opens(), words[i].split, known && (s == "--" || s == ""):
			return true
		case s == "-e" || s == "--expression":
			if i++; i < len(words) && !sedSafe(words[i]) {
				return true
			}
			scripts++
		case s == "-f" || s == "--file":
			i++
			file = true
		case s == "-n", s == "-E", s == "-r", s == "-s", s == "-u", s == "-z", s == "-ne", s == "-nE", s == "-nr",
			s == "--quiet", s == "--silent", s == "--regexp-extended", strings.HasPrefix(words[i].String(), "-i"):
			if s == "-ne" {
				if i++; i < len(words) && !sedSafe(words[i]) {
					return true
				}
				scripts++
			}
		case strings.HasPrefix(words[i].String(), "-"):
			return true
		default:
			if operands++; operands == 1 && scripts == 0 && !file && !sedSafe(words[i]) {
				return true
			}
		}
	}
	return false
}

// sedSafe knows the commands of sed that only change its output.
func sedSafe(w word) bool {
	s, known := w.Literal()
	for known && s != "" {
		s = strings.TrimLeft(s, " \t\n;{}0123456789$,!~+")
		if s == "" {
			break
		}
		c := s[0]
		s = s[1:]
		switch {
		case c == '/':
			s, known = sedPart(s, '/')
			s = strings.TrimLeft(s, "IM")
		case c == 's' && s != "":
			delimiter := s[0]
			if s, known = sedPart(s[1:], delimiter); !known {
				return false
			}
			s, known = sedPart(s, delimiter)
			s = strings.TrimLeft(s, "gpiIM0123456789")
			known = known && (s == "" || strings.IndexByte(";\n} ", s[0]) >= 0)
		case strings.IndexByte("pdqQ=gGhHxnNDPlFz", c) >= 0:
		case strings.IndexByte("aic", c) >= 0:
			return !strings.Contains(s, "\n")
		case strings.IndexByte("btT:", c) >= 0:
			s = strings.TrimLeft(s, " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		default:
			return false
		}
	}
	return known
}

// sedPart cuts up to an unescaped delimiter.
func sedPart(s string, delimiter byte) (rest string, ok bool) {
	if delimiter == '\\' || delimiter == '\n' {
		return "", false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			part := s[:i]
			return s[i+1:], strings.Count(part, "[") == strings.Count(part, "]")
		}
	}
	return "", false
}
