package openapi

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// enum writes the values that are allowed, if they are plain and few enough.
func (w *writer) enum(f *flat) {
	if c, ok := plain(f.constant); ok {
		w.key("enum", "["+c+"]")
		return
	}
	var words []string
	good := true
	f.enum.items(func(v node) bool {
		word, ok := plain(v)
		if good = ok && len(words) < w.words; good && !slices.Contains(words, word) {
			words = append(words, word)
		}
		return good
	})
	if !good || len(words) == 0 {
		return
	}
	if f.nullable && !slices.Contains(words, "null") {
		words = append(words, "null")
	}
	w.key("enum", "["+strings.Join(words, ",")+"]")
}

// plain is how a value that is neither list nor object is written in a schema.
func plain(n node) (string, bool) {
	switch n.kind() {
	case 0, '{', '[':
		return "", false
	case '"':
		text, err := json.Marshal(n.str())
		return string(text), err == nil && len(text) <= maxWord
	case 't', 'f', 'n':
		return string(n.raw()), true
	}
	return number(n)
}

// number is how a number is written in a schema. One with an exponent could stand for
// more digits than there is memory.
func number(n node) (string, bool) {
	raw := string(n.raw())
	if !strings.ContainsAny(raw, "eE") {
		return raw, len(raw) <= 40
	}
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsInf(v, 0) {
		return "", false
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}

func (w *writer) bounds(f *flat) {
	for _, key := range boundKeys {
		n := f.bounds[key]
		switch n.kind() {
		case 0, '{', '[', 'n', 'f':
			continue
		case '"':
			if s := n.str(); key == "pattern" && len(s) <= maxWord && goodPattern(s) {
				w.raw(`,"pattern":`)
				w.quoted(s)
			}
			continue
		case 't':
			w.truth(f, key)
			continue
		}
		text, ok := number(n)
		switch {
		case !ok || key == "pattern" || key == "uniqueItems":
		case key == "minimum" && f.bounds["exclusiveMinimum"].isTrue(), key == "maximum" && f.bounds["exclusiveMaximum"].isTrue():
		case key == "multipleOf" && (strings.HasPrefix(text, "-") || strings.Trim(text, "0.") == ""):
		case (strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max")) && !strings.HasSuffix(key, "imum") && !digits(text):
		default:
			w.key(key, text)
		}
	}
}

// truth writes a bound that is true: 3.0's exclusive bounds, and uniqueItems.
func (w *writer) truth(f *flat, key string) {
	switch key {
	case "uniqueItems":
		w.key(key, "true")
	case "exclusiveMinimum", "exclusiveMaximum":
		n := f.bounds[strings.ToLower(strings.TrimPrefix(key, "exclusive"))]
		if n.kind() == '-' || n.kind() >= '0' && n.kind() <= '9' {
			if text, ok := number(n); ok {
				w.key(key, text)
			}
		}
	}
}

func digits(s string) bool {
	return len(s) <= 15 && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func goodPattern(s string) bool {
	_, err := regexp.Compile(s)
	return err == nil
}
