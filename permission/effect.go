package permission

import "fmt"

// String gives the effect's word: "deny", "ask" or "allow".
func (e Effect) String() string {
	switch e {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return fmt.Sprintf("effect(%d)", uint8(e))
}

// ParseEffect reads an effect's word. Anything else is an error, and Deny.
func ParseEffect(s string) (Effect, error) {
	for _, e := range [...]Effect{Deny, Ask, Allow} {
		if s == e.String() {
			return e, nil
		}
	}
	return Deny, fmt.Errorf("unknown permission %q: write allow, ask or deny", s)
}

// MarshalText gives the effect's word.
func (e Effect) MarshalText() ([]byte, error) {
	if e > Allow {
		return nil, fmt.Errorf("permission %d is none of allow, ask and deny", uint8(e))
	}
	return []byte(e.String()), nil
}

// UnmarshalText reads the effect's word. After an error the effect is Deny.
func (e *Effect) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEffect(string(text))
	return err
}
