package dialect_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

func TestUpdateOfADirectoryProfile(t *testing.T) {
	const main = "{\n    \"id\": \"dev\",\n    \"name\": \"Developer\",\n    \"description\": \"Writes.\",\n    \"colour\": {\"r\": 1},\n    \"temperature\": 0.70,\n    \"enabled_tools\": [\"read\"],\n    \"max_iterations\": 12\n}\n"
	tests := []struct {
		name     string
		change   func(*profile.Profile)
		old, new string // in config.json
		part     string // another file that changes
		text     string
	}{
		{"nothing", func(*profile.Profile) {}, "", "", "", ""},
		{"a number", func(p *profile.Profile) { p.Limits.Turns.V = 13 }, ": 12\n", ": 13\n", "", ""},
		{"a text in the middle", func(p *profile.Profile) { p.Description.V = "Codes." }, "Writes.", "Codes.", "", ""},
		{"a new key", func(p *profile.Profile) { p.Summary = text("s") }, ": 12\n", ": 12,\n    \"short_description\": \"s\"\n", "", ""},
		{"a key goes", func(p *profile.Profile) { p.Description.Set = false }, "    \"description\": \"Writes.\",\n", "", "", ""},
		{"the prompt", func(p *profile.Profile) { setPrompt(p, "New.\nTwo.\n") }, "", "", "system_prompt.txt", "New.\r\nTwo.\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := inFolder("profiles/dev", map[string]string{
				"config.json": main, "system_prompt.txt": "Old.\r\n", "../persona.txt": "All.\n",
			})
			p, _ := decodeFolder(t, f)
			c := *p
			tt.change(&c)
			parts, ds := dialect.Update(f, &c)
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			if want := strings.Replace(main, tt.old, tt.new, 1); string(parts[0].Data) != want {
				t.Errorf("got\n%s\nwant\n%s", parts[0].Data, want)
			}
			switch {
			case tt.part == "" && len(parts) != 1, tt.part != "" && len(parts) != 2:
				t.Errorf("%d parts", len(parts))
			case tt.part != "" && (parts[1].Path != tt.part || string(parts[1].Data) != tt.text):
				t.Errorf("%s: %q", parts[1].Path, parts[1].Data)
			}
		})
	}
	t.Run("a shared file", func(t *testing.T) {
		f := inFolder("profiles/dev", map[string]string{"config.json": main, "system_prompt.txt": "Old.\n", "../persona.txt": "All.\n"})
		p, _ := decodeFolder(t, f)
		c := *p
		c.Persona.V = "Other.\n"
		if parts, ds := dialect.Update(f, &c); len(parts) > 0 || !profile.Refused(ds) {
			t.Errorf("%v %v", parts, ds)
		}
	})
}

func setPrompt(p *profile.Profile, s string) {
	if p.SystemPrompt.Set {
		p.SystemPrompt.V = s
	} else {
		p.Body = s
	}
}
