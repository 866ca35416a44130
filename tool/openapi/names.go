package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	maxID  = 64
	maxArg = 64 // what model providers allow
)

// name gives the operations their IDs. A name that several would have is given to
// none of them: each gets a digest of its method and path at its end, so that the ID
// of one does not depend on which others come before it.
func (r *reader) name(ops []*Operation) {
	byName := map[string][]*Operation{}
	for _, op := range ops {
		if op.ID = SafeName(op.OperationID, maxID); op.ID == "" {
			op.ID = SafeName(strings.ToLower(op.Method)+" "+op.Path, maxID)
		}
		byName[op.ID] = append(byName[op.ID], op)
	}
	taken := map[string]bool{}
	for name, same := range byName {
		if len(same) == 1 {
			taken[name] = true
		}
	}
	for _, op := range ops {
		same := byName[op.ID]
		if len(same) == 1 {
			continue
		}
		for n := 6; ; n++ { // a longer digest, in case another has that name
			if id := withDigest(op.ID, op.name(), maxID, n); !taken[id] || n >= 32 {
				taken[id] = true
				op.ID = id
				break
			}
		}
		if op.OperationID != "" && same[0].OperationID == op.OperationID && same[0] != op {
			r.problem(op.at.at(), op, "its operationId %q is also that of %s; it is called %s", short(op.OperationID), same[0].name(), op.ID)
		}
	}
	byOp := map[string]string{}
	for _, op := range ops {
		byOp[op.name()] = op.ID
	}
	for i := range r.Problems {
		if id := byOp[r.Problems[i].Operation]; id != "" {
			r.Problems[i].Operation = id
		}
	}
}

// SafeName makes of a text a name of letters, digits, "_" and "-" of at most most
// bytes. One that is cut has a digest of the whole at its end.
func SafeName(text string, most int) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	name := b.String()
	if len(name) <= most {
		return name
	}
	return withDigest(name, text, most, 8)
}

// withDigest is a name of at most most bytes that ends in n digits of what it is of.
func withDigest(name, of string, most, n int) string {
	sum := sha256.Sum256([]byte(of))
	end := "_" + hex.EncodeToString(sum[:])[:n]
	return name[:min(len(name), most-len(end))] + end
}

// safeArg makes a name of an input of the name of a parameter or a property: also "."
// is allowed there.
func safeArg(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || r < 0x80 && SafeName(string(r), 1) != "" {
			return r
		}
		return '_'
	}, text), "_")
	switch {
	case name == "":
		return "_"
	case len(name) > maxArg:
		return withDigest(name, text, maxArg, 8)
	}
	return name
}

// nameArgs gives the inputs their names: those of the path first, then those of the
// query, the headers, the cookies and the body. One whose name is taken has its place
// in front of it, as in "query_id"; if that is taken too, a number at its end.
func nameArgs(op *Operation) *Problem {
	taken := map[string]bool{}
	give := func(place, name string) string {
		arg := safeArg(name)
		if taken[arg] {
			arg = safeArg(place + "_" + arg)
		}
		for n, base := 2, arg; taken[arg]; n++ {
			arg = safeArg(fmt.Sprintf("%s_%d", base, n))
		}
		taken[arg] = true
		return arg
	}
	for i := range op.Parameters {
		p := &op.Parameters[i]
		p.Arg = give(p.In, p.Name)
	}
	if b := op.Body; b != nil {
		if b.Arg != "" {
			b.Arg = give("request", b.Arg)
		}
		for i := range b.Fields {
			b.Fields[i].Arg = give("body", b.Fields[i].Name)
		}
	}
	if n := len(taken); n > maxInputs {
		return leftOut(op.at, "it takes %d inputs, more than %d", n, maxInputs)
	}
	return nil
}
