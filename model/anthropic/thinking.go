package anthropic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/model"
)

// generation is how a model is told to think: by a budget in tokens up to 4.5,
// by effort since, and without being told since 5.
// https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
type generation int

const (
	byBudget generation = iota
	byEffort
	byItself
)

// generationOf goes by the model's id. One without a version is new.
func generationOf(id string) generation {
	for _, old := range []string{"claude-3", "-4-0", "-4-1", "-4-5", "-4-2025"} {
		if strings.Contains(id, old) {
			return byBudget
		}
	}
	if strings.Contains(id, "-4-") {
		return byEffort
	}
	return byItself
}

// The least that the API takes as a budget, and what is left for the answer.
const (
	minBudget = 1024
	minAnswer = 1024
)

func budget(t model.Thinking) int {
	switch t {
	case model.ThinkingMinimal:
		return minBudget
	case model.ThinkingLow:
		return 2048
	case model.ThinkingMedium:
		return 8192
	}
	return 24576
}

// appendThinking appends whether and in which form the model thinks.
func (m *Model) appendThinking(b []byte, t model.Thinking, maxTokens int) []byte {
	g := generationOf(m.id)
	switch {
	case t == model.ThinkingDefault:
	case t == model.ThinkingOff:
		if g == byItself {
			b = append(b, `,"thinking":{"type":"disabled"}`...)
		}
	case g != byBudget:
		b = append(b, `,"thinking":{"type":"adaptive","display":"summarized"}`...)
	default:
		if n := min(budget(t), maxTokens-minAnswer); n >= minBudget {
			b = strconv.AppendInt(append(b, `,"thinking":{"type":"enabled","budget_tokens":`...), int64(n), 10)
			b = append(b, '}')
		}
	}
	return b
}

// appendOutput appends the effort, of which low is the least, and the schema of
// the answer.
func (m *Model) appendOutput(b []byte, p model.Params) ([]byte, error) {
	effort := p.Thinking
	switch {
	case generationOf(m.id) == byBudget, effort == model.ThinkingOff:
		effort = model.ThinkingDefault
	case effort == model.ThinkingMinimal:
		effort = model.ThinkingLow
	}
	open := `,"output_config":{`
	if effort != model.ThinkingDefault {
		b = wire.AppendString(append(append(b, open...), `"effort":`...), effort)
		open = ","
	}
	if s := p.Schema; s != nil {
		if !wire.IsObject(s.JSON) {
			return nil, fmt.Errorf("the schema %s of the answer is no JSON object", s.Name)
		}
		b = append(append(b, open...), `"format":{"type":"json_schema","schema":`...)
		b = append(append(b, s.JSON...), '}')
		open = ","
	}
	if open == "," {
		b = append(b, '}')
	}
	return b, nil
}
