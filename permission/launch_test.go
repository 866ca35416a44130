package permission

import "testing"

func TestLaunches(t *testing.T) {
	for subject, want := range map[string]string{
		"*": "every line", "python *": "python", "python3.12 *": "python3.12", "/usr/bin/python *": "python", "env *": "env",
		"bash -c *": "bash", "X=1 sudo -n *": "sudo", "timeout 5 *": "timeout", "make*": "make", "py*": "pypy", "?ash": "bash",
		"go *": "go", "xargs": "none", "python x.py": "none", "npm run *": "none", "python -m pytest *": "none",
		"git *": "none", "git -c *": "none", "git*": "none", "rm *": "none", "ls -l *": "none", "pythonic *": "none", "": "none",
	} {
		got := "none"
		for _, l := range Launches([]Rule{{Tool: "bash", Subject: subject, Effect: Allow}}) {
			if got = l.Name; got == "" {
				got = "every line"
			}
		}
		if got != want {
			t.Errorf("%q covers %s, want %s", subject, got, want)
		}
	}
	for name, rules := range map[string][]Rule{
		"ask":                {{Tool: "bash", Subject: "*", Effect: Ask}},
		"another tool":       {{Tool: "read", Subject: "*", Effect: Allow}},
		"a later ask of all": {{Tool: "*", Subject: "*", Effect: Allow}, {Tool: "bash", Subject: "*", Effect: Ask}},
		"a later deny":       {{Tool: "bash", Subject: "python *", Effect: Allow}, {Tool: "b*", Subject: "python*", Effect: Deny}},
	} {
		if got := Launches(rules); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	some := []Rule{{Tool: "*", Subject: "*", Effect: Allow}, {Tool: "bash", Subject: "rm *", Effect: Ask}, {Tool: "write", Subject: "*", Effect: Ask}}
	if got := Launches(some); len(got) != 1 || got[0].Rule != some[0] {
		t.Errorf("%v", got)
	}
}
