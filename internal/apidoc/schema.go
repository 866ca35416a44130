package apidoc

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// schema is a JSON Schema of the draft that OpenAPI 3.1 has, as far as the types
// of bodies and answers need it.
type schema struct {
	Ref         string     `json:"$ref,omitempty"`
	Description string     `json:"description,omitempty"`
	Type        any        `json:"type,omitempty"` // a name, or several
	Format      string     `json:"format,omitempty"`
	Encoding    string     `json:"contentEncoding,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	MinLength   *int       `json:"minLength,omitempty"`
	MaxLength   *int       `json:"maxLength,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	Maximum     *int       `json:"maximum,omitempty"`
	MinItems    *int       `json:"minItems,omitempty"`
	MaxItems    *int       `json:"maxItems,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	// Additional is false, or the schema of the values of a map.
	Additional any       `json:"additionalProperties,omitempty"`
	AllOf      []*schema `json:"allOf,omitempty"`
	AnyOf      []*schema `json:"anyOf,omitempty"`
}

// property is a member of an object.
type property struct {
	name   string
	schema *schema
}

// properties keep the order of the Go type.
type properties []property

// MarshalJSON implements json.Marshaler.
func (ps properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(p.name) + ":")
		data, err := encode(p.schema)
		if err != nil {
			return nil, err
		}
		b.Write(data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON in which <, > and & stand as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// types makes schemas of Go types. Each struct becomes a component.
type types struct {
	comments   *comments
	components map[string]any // *schema or json.RawMessage
	named      map[string]reflect.Type
	// own are the schemas of types that say themselves how they are written.
	own map[reflect.Type]*schema
}

// of is the schema of a type. Of a body, sent says: what is not named is refused,
// and what is not required may be left out.
func (ts *types) of(t reflect.Type, sent bool) (*schema, error) {
	if s := ts.own[t]; s != nil {
		c := *s
		return &c, nil
	}
	if t.Kind() == reflect.Pointer {
		return ts.of(t.Elem(), sent)
	}
	if t.Name() != "" && t.PkgPath() != "" && (t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())) {
		return nil, fmt.Errorf("%v writes itself as JSON: say in document.go what that is", t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return &schema{Type: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.String:
		return &schema{Type: "string", Enum: ts.comments.values(t)}, nil
	case reflect.Interface:
		return &schema{}, nil
	case reflect.Slice, reflect.Array:
		items, err := ts.of(t.Elem(), sent)
		return &schema{Type: "array", Items: items}, err
	case reflect.Map:
		values, err := ts.of(t.Elem(), sent)
		return &schema{Type: "object", Additional: values}, err
	case reflect.Struct:
		return ts.component(t, sent)
	}
	return nil, fmt.Errorf("%v cannot be shown as JSON", t)
}

// component refers to the schema of a struct.
func (ts *types) component(t reflect.Type, sent bool) (*schema, error) {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if other := ts.named[name]; other != nil && other != t {
		pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	ref := &schema{Ref: "#/components/schemas/" + name}
	if ts.named[name] == t {
		return ref, nil
	}
	ts.named[name] = t
	s := &schema{Type: "object", Description: ts.comments.of(t)}
	if sent {
		s.Additional = false
	}
	ts.components[name] = s
	return ref, ts.fields(s, t, sent)
}

func (ts *types) fields(s *schema, t reflect.Type, sent bool) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "":
			if err := ts.fields(s, f.Type, sent); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		p, err := ts.of(f.Type, sent)
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		p.Description = ts.comments.field(t, f.Name)
		limits := f.Tag.Get("schema")
		if who[name] != "" && sent {
			limits, p.Description = nameLimits, who[name]
		}
		required, err := p.limit(limits)
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		omits := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if !sent && f.Type.Kind() == reflect.Pointer && !omits {
			p = &schema{Description: p.Description, AnyOf: []*schema{{Type: "null"}, p}}
		}
		if sent && required || !sent && !omits {
			s.Required = append(s.Required, name)
		}
		if sent && !required && len(p.Enum) > 0 {
			p.Enum = append(p.Enum, "") // as if it were not there
		}
		s.Properties = append(s.Properties, property{name, p})
	}
	return nil
}

// limit takes in what a schema tag says: required, one of enum=a|b (of a list, each of
// its items), min=, max= (of a text its length in characters, of a list how many
// items), pattern=, type=, separated by semicolons.
func (s *schema) limit(tag string) (required bool, err error) {
	if tag == "" {
		return false, nil
	}
	for part := range strings.SplitSeq(tag, ";") {
		key, value, _ := strings.Cut(part, "=")
		var n int
		if key == "min" || key == "max" {
			if n, err = strconv.Atoi(value); err != nil {
				return false, err
			}
		}
		text := s.Type == "string"
		switch {
		case key == "required":
			required = true
		case key == "type":
			*s = schema{Description: s.Description, Type: value}
			if several := strings.Split(value, "|"); len(several) > 1 {
				s.Type = several
			}
		case key == "enum" && s.Items != nil:
			s.Items.Enum = strings.Split(value, "|")
		case key == "min" && s.Items != nil:
			s.MinItems = &n
		case key == "max" && s.Items != nil:
			s.MaxItems = &n
		case key == "enum":
			s.Enum = strings.Split(value, "|")
		case key == "pattern":
			s.Pattern = value
		case key == "format":
			s.Format = value
		case key == "min" && text:
			s.MinLength = &n
		case key == "min":
			s.Minimum = &n
		case key == "max" && text:
			s.MaxLength = &n
		case key == "max":
			s.Maximum = &n
		default:
			return false, fmt.Errorf("a schema tag has no %q", part)
		}
	}
	return required, nil
}

// nameLimits are those of the names of tenants and users.
const nameLimits = "max=128;pattern=^([A-Za-z0-9][A-Za-z0-9._@+:-]*)?$"

// who are members that many bodies have, and what they say.
var who = map[string]string{
	"tenantId": "The tenant, where nobody is asked who he is; otherwise it is that of the credential.",
	"userId":   "The user, where nobody is asked who he is; otherwise it is that of the credential.",
}

var timeSchema = &schema{Type: "string", Format: "date-time"}

var timeType = reflect.TypeFor[time.Time]()
