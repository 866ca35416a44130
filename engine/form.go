package engine

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// Bounds of asking again for an answer that does not fit the schema of its loop:
// how often, and how many of the faults are named.
const (
	maxRefused    = 2
	maxViolations = 20
)

// mismatch is the code of a loop that ends with an answer which does not fit.
const mismatch = "SchemaMismatch"

// form is what the answers of a loop have to fit.
type form struct {
	schema *schema.Schema
	sent   *model.Schema // as providers are told
}

// formName names the schema to providers.
const formName = "answer"

// AnswerSchema is how providers are told of the schema of a loop's answers.
func AnswerSchema(text []byte) *model.Schema {
	return &model.Schema{Name: formName, JSON: text, Strict: schema.Strict(text)}
}

// wants gives the form of the loop's answers; nil: any text will do. One that
// does not compile fits nothing: whoever posted it did not check it.
func (r *run) wants() *form {
	text := r.s.Loop.Start.Schema
	if len(text) == 0 {
		return nil
	}
	if r.form == nil {
		r.form = &form{sent: AnswerSchema(text)}
		r.form.schema, _ = schema.Compile(text)
	}
	return r.form
}

// violations lists what of an answer does not fit.
func (f *form) violations(answer string) []string {
	if f.schema == nil {
		return []string{"the schema does not compile"}
	}
	list := f.schema.Violations([]byte(answer), "answer")
	if more := len(list) - maxViolations; more > 0 {
		list = append(list[:maxViolations], fmt.Sprintf("and %d more", more))
	}
	return list
}

// params are those of the next request.
func (r *run) params() model.Params {
	p := r.link.params
	if f := r.wants(); f != nil {
		p.Schema = f.sent
	}
	return p
}

// fits looks at the answer that a loop would end with. One that does not fit is
// asked for again, or ends the loop.
func (r *run) fits(l *session.Loop) (fits, ended bool, err error) {
	f := r.wants()
	if f == nil {
		return true, false, nil
	}
	wrong := f.violations(l.Text)
	if len(wrong) == 0 {
		return true, false, nil
	}
	if l.Refused >= maxRefused {
		ended, err = r.fail(session.ReasonError, &session.Error{
			Code:  mismatch,
			Error: r.clean(fmt.Sprintf("the answer does not fit the schema, also when asked again: %s", strings.Join(wrong, "; "))),
		})
		return false, ended, err
	}
	if limit := r.limit(l); limit != nil {
		ended, err = r.endLimit(limit)
		return false, ended, err
	}
	r.emit(&session.Message{
		ID: r.clock.ID(), Parent: r.head(), Role: message.User, Why: session.WhySchema,
		Parts: []message.Part{message.Text{Text: r.clean(fmt.Sprintf(textMisfit, strings.Join(wrong, "\n- ")))}},
	})
	return false, false, nil
}

// textMisfit asks for an answer again.
const textMisfit = `Your answer does not fit the schema that was asked for:
- %s
Answer again with the JSON value alone: no other text, and no code fence around it.`
