package permission

import "testing"

func BenchmarkDecide(b *testing.B) {
	rules := append(Builtin(),
		Rule{Tool: "read", Subject: "secrets/*", Effect: Deny},
		Rule{Tool: "bash", Subject: "git *", Effect: Allow})
	e, err := Compile(Layers{Rules: rules, Default: Ask})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if e.Decide(Query{Tool: "read", Subject: "internal/deep/file.go"}).Effect != Allow {
				b.Fatal("not allowed")
			}
		}
	})
	b.Run("bash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if e.Decide(Query{Tool: "bash", Subject: "git log --oneline"}).Effect != Allow {
				b.Fatal("not allowed")
			}
		}
	})
}
