package tool

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// ArtifactPrefix stands before the name of what was too long to be sent whole,
// which read opens.
const ArtifactPrefix = "artifact:"

// artifactPlan reads a kept text. Its lines are those of the text, but that a
// long one counts as several.
type artifactPlan struct {
	tool *readTool
	call Call
	in   readInput
	id   string
}

func newArtifact(t *readTool, c Call, in readInput) (Plan, error) {
	id := strings.TrimPrefix(in.Path, ArtifactPrefix)
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 32 || strings.ToLower(id) != id {
		return nil, fmt.Errorf("%s is no artifact: its name is %s and 64 characters of 0-9 and a-f, as it stands where something was left out", in.Path, ArtifactPrefix)
	}
	return &artifactPlan{t, c, in, id}, nil
}

func (p *artifactPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: "read", Subject: ArtifactPrefix + p.id}}
}

func (p *artifactPlan) Close() error { return nil }

func (p *artifactPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	if p.call.Blobs == nil {
		return Result{}, errors.New("there are no artifacts here")
	}
	data, err := p.call.Blobs.Blob(ctx, p.call.Key.Tenant, p.id)
	if errors.Is(err, session.ErrNoBlob) {
		return Result{}, fmt.Errorf("there is no %s%s", ArtifactPrefix, p.id)
	} else if err != nil {
		return Result{}, err
	}
	return p.lines(string(data))
}

// lines gives the lines that are asked for, as many as a result may have.
func (p *artifactPlan) lines(text string) (Result, error) {
	most := maxReadBytes
	if p.call.MaxText > 0 {
		most = max(p.call.MaxText-artifactRoom, artifactRoom)
	}
	var out strings.Builder
	number := 0
	for line := range folded(text, min(p.tool.maxLineLength, most/2)) {
		number++
		if number < p.in.Offset {
			continue
		}
		if number >= p.in.Offset+p.in.Limit || out.Len()+len(line) > most && out.Len() > 0 {
			fmt.Fprintf(&out, "[more lines follow: go on with offset %d]\n", number)
			return Text(out.String()), nil
		}
		if p.tool.lineNumbers {
			fmt.Fprintf(&out, "%6d\t", number)
		}
		out.WriteString(line)
		out.WriteByte('\n')
	}
	if number < p.in.Offset {
		return Result{}, fmt.Errorf("offset %d exceeds the artifact's %d lines", p.in.Offset, number)
	}
	return Text(out.String()), nil
}

// artifactRoom is what a result needs besides its lines.
const artifactRoom = 256

// folded yields the lines of a text, in pieces of at most so many bytes.
func folded(text string, most int) func(func(string) bool) {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(strings.NewReader(text))
		lines.Buffer(nil, len(text)+1)
		for lines.Scan() {
			line := lines.Text()
			for len(line) > most {
				end := most
				for end > most-4 && line[end]&0xC0 == 0x80 {
					end--
				}
				if !yield(line[:end]) {
					return
				}
				line = line[end:]
			}
			if !yield(line) {
				return
			}
		}
	}
}
