package dialect

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// folder rewrites the files of a directory profile: in its JSON the values that
// changed, and each text that did. What the profile's texts no longer say leaves
// an empty file.
func (u *updater) folder(bool) ([]Part, bool) {
	before, ok1 := topJSON(u.oldParts[0].Data)
	after, ok2 := topJSON(u.newParts[0].Data)
	file, ok3 := topJSON(u.file.Data)
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	parts := []Part{{Path: dirMain, Data: file.merge(before, after)}}
	for _, name := range u.changedTexts() {
		data := u.text(u.newParts, name)
		if bytes.Contains(u.file.Beside[name], []byte("\r\n")) {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		}
		parts = append(parts, Part{Path: name, Data: data})
	}
	return parts, true
}

// changedTexts lists the files beside the main one that change, by their paths
// from it.
func (u *updater) changedTexts() []string {
	var names []string
	for _, part := range slices.Concat(u.newParts[1:], u.oldParts[1:]) {
		name := below(path.Dir(u.newParts[0].Path), part.Path)
		if !slices.Contains(names, name) && !bytes.Equal(u.text(u.oldParts, name), u.text(u.newParts, name)) {
			names = append(names, name)
		}
	}
	return names
}

func (u *updater) text(parts []Part, name string) []byte {
	for _, part := range parts[1:] {
		if below(path.Dir(parts[0].Path), part.Path) == name {
			return part.Data
		}
	}
	return nil
}

// shared says whether something changes that stands outside of the folder.
func (u *updater) shared() bool {
	return slices.ContainsFunc(u.changedTexts(), func(name string) bool { return strings.HasPrefix(name, "../") })
}

// jsonObject is the text of a JSON object with the places of its members.
type jsonObject struct {
	text    []byte
	open    int // behind its brace
	members []jsonMember
	places  map[string]int // of the members
}

type jsonMember struct {
	key             string
	start, from, to int // of the key and of the value
}

func topJSON(text []byte) (jsonObject, bool) {
	o := jsonObject{text: text, places: map[string]int{}}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return o, false
	}
	o.open = int(dec.InputOffset())
	at := o.open
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return o, false
		}
		m := jsonMember{key: key, start: at + bytes.IndexByte(text[at:], '"')}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return o, false
		}
		m.to = int(dec.InputOffset())
		m.from = m.to - len(value)
		at = m.to
		if _, twice := o.places[key]; !twice {
			o.places[key] = len(o.members)
		}
		o.members = append(o.members, m)
	}
	_, err := dec.Token()
	return o, err == nil
}

func (o *jsonObject) find(key string) int {
	if i, ok := o.places[key]; ok {
		return i
	}
	return -1
}

func (o *jsonObject) value(i int) []byte { return o.text[o.members[i].from:o.members[i].to] }

// merge gives the text with what differs between two writings of the object.
func (o *jsonObject) merge(before, after jsonObject) []byte {
	out := bytes.Clone(o.text[:o.open])
	at := o.open
	for i, m := range o.members {
		old, now := before.find(m.key), after.find(m.key)
		switch {
		case old >= 0 && now < 0:
			next := m.to
			if i+1 < len(o.members) {
				next = o.members[i+1].start
				out = append(out, o.text[at:m.start]...)
			} else {
				out = append(bytes.TrimRight(out, ", \t\r\n"), bytes.TrimLeft(o.text[at:m.start], ", \t\r\n")...)
			}
			at = next
		case old >= 0 && !bytes.Equal(before.value(old), after.value(now)), old < 0 && now >= 0:
			out = append(append(out, o.text[at:m.from]...), after.value(now)...)
			at = m.to
		}
	}
	if n := len(o.members); n > 0 && at < o.members[n-1].to {
		out = append(out, o.text[at:o.members[n-1].to]...)
		at = o.members[n-1].to
	}
	for i, m := range after.members {
		if o.find(m.key) >= 0 || before.find(m.key) >= 0 && bytes.Equal(before.value(before.find(m.key)), after.value(i)) {
			continue
		}
		if bytes.HasSuffix(bytes.TrimSpace(out), []byte("{")) {
			out = append(out, o.space()...)
		} else {
			out = append(append(out, ','), o.space()...)
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return o.text
		}
		out = append(append(append(out, key...), ": "...), after.value(i)...)
	}
	return append(out, o.text[at:]...)
}

// space gives what stands before a key: a new line and the indent.
func (o *jsonObject) space() string {
	if len(o.members) == 0 {
		return "\n  "
	}
	before := string(o.text[o.open:o.members[0].start])
	if strings.TrimSpace(before) != "" {
		return "\n  "
	}
	return before
}
