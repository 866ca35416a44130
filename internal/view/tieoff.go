package view

import (
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/rig/tieoff"
)

// TieOffs are answers of a rig's knots.
type TieOffs struct {
	Rig      string   `json:"rig"`
	Sections []TieOff `json:"sections"` // the newest first
	// Problems are what could not be read of the files, as FILE: line N: TEXT.
	Problems []string `json:"problems"`
}

// TieOff is an answer of a knot: a section of its tie-off.
type TieOff struct {
	Knot     string         `json:"knot"` // LOOM/NAME
	File     string         `json:"file"` // below the rig
	Line     int            `json:"line"` // of the heading, from 1
	Event    string         `json:"event"`
	Path     string         `json:"path,omitempty"`
	Time     *time.Time     `json:"time,omitempty"`
	Job      string         `json:"job,omitempty"`
	Session  string         `json:"session,omitempty"`
	Profile  string         `json:"profile,omitempty"`
	Revision string         `json:"revision,omitempty"`
	Model    string         `json:"model,omitempty"`
	Hops     int            `json:"hops,omitempty"`
	Usage    *message.Usage `json:"usage,omitempty"`
	Cost     float64        `json:"cost"` // USD
	// Edited says that the section is other than it was when it was written.
	Edited bool   `json:"edited,omitempty"`
	Answer string `json:"answer,omitempty"` // where answers were asked for
}

// NewTieOff is the view of a section of a file, with its answer or without.
func NewTieOff(e tieoff.Entry, s *tieoff.Section, answer bool) TieOff {
	usage := s.Usage
	out := TieOff{
		Knot: e.ID(), File: e.File, Line: s.Line, Event: s.Event, Path: s.Path, Time: orNone(s.Time), Job: s.Job, Session: s.Session,
		Profile: s.Profile, Revision: s.Revision, Model: s.Model, Hops: s.Hops, Usage: &usage, Cost: s.Cost, Edited: s.Edited,
	}
	if answer {
		out.Answer = s.Answer
	}
	return out
}
