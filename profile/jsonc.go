package profile

import "bytes"

// PlainJSON makes blanks of what JSON with comments has beyond JSON: the comments,
// and a comma before a closing bracket. Each character stays in its line and column.
func PlainJSON(data []byte) []byte {
	out := make([]byte, 0, len(data))
	comma := -1 // in out, with nothing but blanks behind it
	for i := 0; i < len(data); {
		end := i + 1
		switch c := data[i]; {
		case c == '"':
			end = endOfString(data, i)
			out, comma = append(out, data[i:end]...), -1
		case bytes.HasPrefix(data[i:], []byte("//")):
			end = until(data, i, "\n")
			out = blanks(out, data[i:end])
		case bytes.HasPrefix(data[i:], []byte("/*")):
			end = min(until(data, i+2, "*/")+2, len(data))
			out = blanks(out, data[i:end])
		default:
			if comma >= 0 && (c == '}' || c == ']') {
				out[comma] = ' '
			}
			if c == ',' {
				comma = len(out)
			} else if bytes.IndexByte([]byte(" \t\r\n"), c) < 0 {
				comma = -1
			}
			out = append(out, c)
		}
		i = end
	}
	return out
}

// endOfString gives where a text ends that starts there: behind its quote, or at the
// end of its line.
func endOfString(data []byte, at int) int {
	for at++; at < len(data) && data[at] != '\n'; at++ {
		switch data[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return min(at, len(data))
}

func until(data []byte, from int, mark string) int {
	from = min(from, len(data))
	if n := bytes.Index(data[from:], []byte(mark)); n >= 0 {
		return from + n
	}
	return len(data)
}

// blanks appends a blank for each character but the line ends.
func blanks(out, comment []byte) []byte {
	for _, c := range string(comment) {
		if c == '\n' || c == '\r' {
			out = append(out, byte(c))
		} else {
			out = append(out, ' ')
		}
	}
	return out
}
