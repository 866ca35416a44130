package shell

import "testing"

func TestReadOnly(t *testing.T) {
	tests := map[string]bool{
		"ls -la":                          true,
		"cat a | grep x | wc -l":          true,
		"cat $FILE":                       true,
		"cd sub && git status":            true,
		"git log --oneline -5":            true,
		"find . -name '*.go'":             true,
		"sort a":                          true,
		"grep x f 2>/dev/null":            true,
		"echo $(cat a)":                   true,
		"for i in 1 2; do echo $i; done":  true,
		"echo x > f":                      false,
		"echo x >> f":                     false,
		"echo x > $f":                     false,
		"cat a | tee b":                   false,
		"rm a":                            false,
		"find . -name x -delete":          false,
		"find . -exec rm {} +":            false,
		"find $X":                         false,
		"sort -o a a":                     false,
		"git checkout .":                  false,
		"git diff --output=x":             false,
		"git -c core.pager=x log":         false,
		"git":                             false,
		"PATH=. ls":                       false,
		"./ls":                            false,
		"$X":                              false,
		"eval \"$X\"":                     false,
		"source f":                        false,
		"ls; make":                        false,
		"echo $(touch x)":                 false,
		"ls() { rm a; }; ls":              false,
		"cat <(rm a)":                     false,
		"tree -o x":                       false,
		"sed -i s/a/b/ f":                 false,
		"python3 -c 'open(\"x\",\"w\")'":  false,
		"env ls":                          true,
		"timeout 5 cat a":                 true,
		"sh -c 'ls'":                      true,
		"sh -c 'rm a'":                    false,
		"xargs rm":                        false,
		"test -f a && echo yes || echo n": true,
		"alias ls=rm; ls":                 false,
	}
	for line, want := range tests {
		l, err := Analyze(line)
		if got := err == nil && l.ReadOnly(); got != want {
			t.Errorf("%s: %v, %v (%+v)", line, got, err, l)
		}
	}
}
