package secret

import "testing"

func TestHide(t *testing.T) {
	values := []string{"sk-12345678", "sk-12345678-long", "short", ""}
	for text, want := range map[string]string{
		"key sk-12345678-long, sk-12345678.": "key [secret], [secret].",
		"short stays":                        "short stays",
		"":                                   "",
	} {
		if got := Hide(text, values); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "DB_PASSWORD": true, "PGPASS": true, "my_secret_thing": true,
		"HOME": false, "PATH": false, "SSH_AUTH_SOCK": false, "KEYBOARD": false, "COMPASS_X": false, "MONKEYS": false, "PWD": false, "OLDPWD": false, "MYSQL_PWD": true,
	} {
		if Name(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
