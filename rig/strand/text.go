package strand

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// headSize is how many bytes of a file decide whether it is binary.
const headSize = 8 << 10

var (
	utf16LE = []byte{0xff, 0xfe}
	utf16BE = []byte{0xfe, 0xff}
	utf32LE = []byte{0xff, 0xfe, 0, 0}
	utf8BOM = []byte{0xef, 0xbb, 0xbf}
)

// IsBinary says whether a content is no text: in its first 8 KiB is a NUL, or what is
// not UTF-8. UTF-16 with a byte order mark is text.
func IsBinary(content []byte) bool {
	if isUTF16(content) {
		return false
	}
	head, more := content, false
	if len(head) > headSize {
		head, more = head[:headSize], true
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 {
			return !more || utf8.FullRune(head) // it may be the head that cuts it
		}
		head = head[size:]
	}
	return false
}

func isUTF16(content []byte) bool {
	return !bytes.HasPrefix(content, utf32LE) && (bytes.HasPrefix(content, utf16LE) || bytes.HasPrefix(content, utf16BE))
}

// Text is a strand's content as UTF-8, without a byte order mark. What is not text
// in it becomes U+FFFD.
func Text(content []byte) string {
	if isUTF16(content) {
		if text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(content); err == nil {
			return string(text)
		}
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(content, utf8BOM)), "\ufffd")
}
