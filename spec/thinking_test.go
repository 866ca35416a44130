package spec

import "testing"

func TestLevel(t *testing.T) {
	some := []string{"off", "low", "high"}
	for _, c := range []struct {
		name    string
		m       Model
		want    string
		samples bool
		level   string
	}{
		{"nobody knows and nobody asks", Model{}, "", false, ""},
		{"nobody knows", Model{}, "high", false, "high"},
		{"it does not think", Model{Thinking: []string{}}, "high", false, ""},
		{"it has the level", Model{Thinking: some}, "high", false, "high"},
		{"of two as near, the lower", Model{Thinking: some}, "medium", false, "low"},
		{"the nearest", Model{Thinking: some}, "minimal", false, "off"},
		{"it cannot be kept from thinking", Model{Thinking: []string{"medium", "high"}}, "off", false, "medium"},
		{"nobody asks", Model{Thinking: Levels()}, "", false, "medium"},
		{"nobody asks, beside a temperature", Model{Thinking: Levels(), ThinksAlone: true}, "", true, "off"},
		{"asked for, beside a temperature", Model{Thinking: Levels(), ThinksAlone: true}, "low", true, "low"},
	} {
		if got := c.m.Level(c.want, c.samples); got != c.level {
			t.Errorf("%s: %q, want %q", c.name, got, c.level)
		}
	}
	for _, c := range []struct {
		m     Model
		level string
		want  bool
	}{
		{Model{}, "high", true},
		{Model{NoSampling: true}, "", false},
		{Model{ThinksAlone: true}, "high", false},
		{Model{ThinksAlone: true}, "off", true},
		{Model{ThinksAlone: true}, "", true},
	} {
		if c.m.Samples(c.level) != c.want {
			t.Errorf("%+v at %q", c.m, c.level)
		}
	}
}
