package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// MaxAnswer bounds the answer of a command or address, in bytes.
const MaxAnswer = 1 << 20

// ParseAnswer reads the answer of a command or address: one JSON object with
// decision and, as needed, reason, input and text. Anything else is an error.
func ParseAnswer(data []byte) (Verdict, error) {
	if len(data) > MaxAnswer {
		return Verdict{}, fmt.Errorf("the answer has more than %d bytes", MaxAnswer)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Verdict{}, errors.New(`the answer is empty; to let it go on, answer {"decision":"allow"}`)
	}
	var a struct {
		Decision string          `json:"decision"`
		Reason   string          `json:"reason"`
		Input    json.RawMessage `json:"input"`
		Text     string          `json:"text"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return Verdict{}, fmt.Errorf("the answer is no JSON object of decision, reason, input and text: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Verdict{}, errors.New("the answer is more than one JSON object")
	}
	i := slices.Index(decisions[:], a.Decision)
	if i < 0 {
		return Verdict{}, fmt.Errorf("the decision is %q, and not one of %s", cut(a.Decision, 40), strings.Join(decisions[:], ", "))
	}
	return Verdict{Decision(i), a.Reason, a.Input, a.Text}, nil
}
