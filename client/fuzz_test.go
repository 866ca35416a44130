package client

import (
	"bytes"
	"testing"

	"github.com/rosterrun/roster/internal/sse"
)

// FuzzStream reads what a server may send: no event that it makes is without a type,
// and what was read can be written again.
func FuzzStream(f *testing.F) {
	f.Add([]byte("event: turn.start\nid: 1\ndata: {\"v\":1,\"seq\":1,\"session\":\"s\",\"depth\":0,\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"turn.start\",\"data\":{}}\n\n"))
	f.Add([]byte("event: delta\ndata: {\"session\":\"s\",\"message\":\"m\",\"attempt\":1,\"offset\":0,\"text\":\"x\"}\n\n"))
	f.Add([]byte("event: context_usage\ndata: {\"session\":\"s\",\"inputTokens\":1,\"outputTokens\":2,\"budgetUsedPct\":0.5}\n\n"))
	f.Add([]byte("event: fell_behind\ndata: {\"from\":1}\n\nevent: stream.failed\ndata: {}\n\n"))
	f.Add([]byte("event: message\nid: 1\ndata: {\"v\":1,\"seq\":1,\"type\":\"message\",\"data\":null}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := sse.NewReader(bytes.NewReader(data), 1<<16)
		for {
			frame, err := in.Next()
			if err != nil {
				return
			}
			e, err := decodeFrame(&frame)
			if err != nil {
				continue
			}
			if e.Body == nil || e.Type == "" && e.Seq > 0 {
				t.Fatalf("an event without a body or type: %+v", e)
			}
			if e.Seq == 0 && e.Type == "delta" {
				continue
			}
			e.AppendJSON(nil)
		}
	})
}
