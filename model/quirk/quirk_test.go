package quirk

import (
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://api.openai.com/v1", "max-tokens=max_completion_tokens"},
		{"https://API.OpenAI.com:443/v1", "max-tokens=max_completion_tokens"},
		{"https://team.openai.azure.com/openai/v1", "max-tokens=max_completion_tokens"},
		{"https://api.mistral.ai/v1", "stream-usage=no call-ids=nine"},
		{"https://api.deepseek.com", "thinking=switch reasoning-back=reasoning_content schema=json-object"},
		{"https://notapi.deepseek.com.example/v1", ""},
		{"http://127.0.0.1:11434/v1", ""},
		{"://", ""},
		{"", ""},
	} {
		if got := Of(c.url).Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// TestTable holds the table against the values that there are.
func TestTable(t *testing.T) {
	for _, k := range known {
		for key, v := range k.quirks {
			if !slices.Contains(Values(key), v) {
				t.Errorf("%v: %s takes no %q", k.hosts, key, v)
			}
		}
	}
	for _, k := range Keys() {
		if len(Values(k)) < 2 {
			t.Errorf("%s has the values %v", k, Values(k))
		}
	}
}

func TestWith(t *testing.T) {
	table := Of("https://api.mistral.ai/v1")
	if got := table.With(Set{StreamUsage: Yes, SystemRole: Developer}).Text(); got != "system-role=developer call-ids=nine" {
		t.Errorf("got %q", got)
	}
	if got := Of("https://api.mistral.ai/v1").Text(); got != table.Text() {
		t.Errorf("the table has become %q", got)
	}
	if got := Set(nil).With(Set{Schema: Words}).Get(Schema); got != Words {
		t.Errorf("got %q", got)
	}
}
