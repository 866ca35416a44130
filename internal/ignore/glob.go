package ignore

import "strings"

// kind is what a token stands for. Globs are of bytes, as git's are.
type kind uint8

const (
	literal kind = iota // its text
	one                 // any byte but a slash
	class               // one byte of a set, never a slash
	star                // any run of bytes without a slash
	dirs                // any number of directories, each with its slash
	rest                // all that follows
)

type token struct {
	kind kind
	text string
	set  *[256]bool
}

// compile reads a glob; path says that slashes and ** mean something. A glob that
// matches nothing is none.
func compile(glob string, path bool) (out []token, ok bool) {
	// Git compares what comes before apart, so ** counts as a beginning there.
	first := strings.IndexAny(glob, `*?[\`)
	for i := 0; i < len(glob); {
		switch c := glob[i]; c {
		case '\\':
			if i++; i == len(glob) {
				return nil, false
			}
			out = appendLiteral(out, glob[i])
			i++
		case '?':
			out = append(out, token{kind: one})
			i++
		case '[':
			set, n := parseClass(glob[i:])
			if n == 0 {
				return nil, false
			}
			out = append(out, token{kind: class, set: set})
			i += n
		case '*':
			begins := i == first || glob[i-1] == '/'
			end := i
			for end < len(glob) && glob[end] == '*' {
				end++
			}
			switch wide := path && begins && end-i > 1; {
			case wide && end == len(glob):
				out = append(out, token{kind: rest})
			case wide && glob[end] == '/':
				out = append(out, token{kind: dirs})
				end++
			default:
				out = append(out, token{kind: star})
			}
			i = end
		default:
			out = appendLiteral(out, c)
			i++
		}
	}
	return out, true
}

func appendLiteral(out []token, c byte) []token {
	if n := len(out); n > 0 && out[n-1].kind == literal {
		out[n-1].text += string([]byte{c})
		return out
	}
	return append(out, token{kind: literal, text: string([]byte{c})})
}

// parseClass reads a set of bytes and says how long it is; 0: it does not end.
func parseClass(glob string) (set *[256]bool, size int) {
	set = new([256]bool)
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	for first, before := true, -1; ; first = false {
		switch {
		case i >= len(glob):
			return nil, 0
		case glob[i] == ']' && !first:
			if negated {
				for b := range set {
					set[b] = !set[b]
				}
			}
			set['/'] = false
			return set, i + 1
		case strings.HasPrefix(glob[i:], "[:"):
			end := strings.Index(glob[i+2:], ":]")
			if end < 0 || strings.Contains(glob[i+2:i+2+end], "]") {
				set['['], before = true, '['
				i++
				continue
			}
			if !named(set, glob[i+2:i+2+end]) {
				return nil, 0
			}
			before = -1
			i += end + 4
		case glob[i] == '-' && before >= 0 && i+1 < len(glob) && glob[i+1] != ']':
			if i++; glob[i] == '\\' {
				if i++; i == len(glob) {
					return nil, 0
				}
			}
			for b := before; b <= int(glob[i]); b++ {
				set[b] = true
			}
			before = -1
			i++
		default:
			if glob[i] == '\\' {
				if i++; i == len(glob) {
					return nil, 0
				}
			}
			set[glob[i]], before = true, int(glob[i])
			i++
		}
	}
}

// named adds a class such as alpha, of ASCII.
func named(set *[256]bool, name string) bool {
	const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	const punct = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	classes := map[string]string{
		"alnum": upper + lower + digits, "alpha": upper + lower, "blank": " \t", "digit": digits, "graph": upper + lower + digits + punct,
		"lower": lower, "print": upper + lower + digits + punct + " ", "punct": punct, "space": " \t\n\v\f\r", "upper": upper, "xdigit": digits + "abcdefABCDEF",
	}
	text, ok := classes[name]
	for i := range len(text) {
		set[text[i]] = true
	}
	if name == "cntrl" {
		for b := range 32 {
			set[b] = true
		}
		set[127] = true
	}
	return ok || name == "cntrl"
}

// match holds a text against all of a glob. Where it fails, the last star takes
// one byte more, and then the last run of directories one directory more: that
// is enough, and the time is bounded.
func match(glob []token, text string) bool {
	at, pos := 0, 0
	starAt, starPos := -1, 0
	dirsAt, dirsPos := -1, 0
	for {
		if at == len(glob) {
			if pos == len(text) {
				return true
			}
		} else {
			switch t := glob[at]; t.kind {
			case rest:
				return true
			case star:
				at++
				starAt, starPos = at, pos
				continue
			case dirs:
				at++
				dirsAt, dirsPos, starAt = at, pos, -1
				continue
			case literal:
				if strings.HasPrefix(text[pos:], t.text) {
					if strings.IndexByte(t.text, '/') >= 0 {
						starAt = -1 // a star before it ends in its own directory
					}
					at, pos = at+1, pos+len(t.text)
					continue
				}
			default:
				if pos < len(text) && text[pos] != '/' && (t.kind == one || t.set[text[pos]]) {
					at, pos = at+1, pos+1
					continue
				}
			}
		}
		switch {
		case starAt >= 0 && starPos < len(text) && text[starPos] != '/':
			starPos++
			at, pos = starAt, starPos
		case dirsAt >= 0:
			next := strings.IndexByte(text[dirsPos:], '/')
			if next < 0 {
				return false
			}
			dirsPos += next + 1
			at, pos, starAt = dirsAt, dirsPos, -1
		default:
			return false
		}
	}
}
