package shell

import "testing"

func BenchmarkAnalyze(b *testing.B) {
	for _, line := range []string{
		"git status",
		"cd x && go test ./... 2>&1 | tail -20",
		`for f in *.go; do if grep -q "x $f" "$f"; then git add "$f"; fi; done > log`,
		`sudo timeout 5 bash -c 'rm -rf "$(git rev-parse --show-toplevel)"/{a,b}'`,
	} {
		b.Run(line[:10], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Analyze(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
