package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// shorten writes JSON within max bytes: of long lists and objects the first items, and
// of long texts the beginning, each with a word on how much is left out.
func shorten(data []byte, max int) (string, bool) {
	for _, s := range []shortener{{items: 100, chars: 2000}, {items: 30, chars: 1000}, {items: 10, chars: 500}, {items: 4, chars: 200}, {items: 1, chars: 100}} {
		s.max = max
		s.in = json.NewDecoder(bytes.NewReader(data))
		s.in.UseNumber()
		switch err := s.value(0); {
		case err == nil && !s.in.More():
			return s.out.String(), true
		case errors.Is(err, errTooLong):
			continue
		}
		return "", false
	}
	return "", false
}

var errTooLong = errors.New("too long")

type shortener struct {
	items, chars, max int
	in                *json.Decoder
	out               bytes.Buffer
}

func (s *shortener) value(depth int) error {
	const deepest = 200
	t, err := s.in.Token()
	switch {
	case err != nil:
		return err
	case depth > deepest:
		return errors.New("too deep")
	}
	switch x := t.(type) {
	case json.Delim:
		return s.nested(x, depth)
	case string:
		if r := []rune(x); len(r) > s.chars {
			x = fmt.Sprintf("%s… [%d more characters]", string(r[:s.chars]), len(r)-s.chars)
		}
		return s.write(x)
	}
	return s.write(t)
}

func (s *shortener) write(v any) error {
	e := json.NewEncoder(&s.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	s.out.Truncate(s.out.Len() - 1)
	if s.out.Len() > s.max {
		return errTooLong
	}
	return nil
}

func (s *shortener) nested(open json.Delim, depth int) error {
	object := open == '{'
	s.out.WriteRune(rune(open))
	n := 0
	for ; s.in.More(); n++ {
		if n >= s.items*s.wide(object) {
			if err := s.skip(object); err != nil {
				return err
			}
			continue
		}
		if n > 0 {
			s.out.WriteByte(',')
		}
		if object {
			if err := s.value(depth); err != nil {
				return err
			}
			s.out.WriteByte(':')
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	if left := n - s.items*s.wide(object); left > 0 {
		s.out.WriteByte(',')
		more := fmt.Sprintf("… %d more", left)
		if object {
			s.out.WriteString(`"…":`)
		}
		if err := s.write(more); err != nil {
			return err
		}
	}
	end, err := s.in.Token()
	if err != nil {
		return err
	}
	s.out.WriteRune(rune(end.(json.Delim)))
	return nil
}

// wide is how many times more keys of an object are kept than items of a list: a key
// says more.
func (s *shortener) wide(object bool) int {
	if object {
		return 5
	}
	return 1
}

func (s *shortener) skip(object bool) error {
	if object {
		if _, err := s.in.Token(); err != nil {
			return err
		}
	}
	var v json.RawMessage
	return s.in.Decode(&v)
}
