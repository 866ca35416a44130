package config

import (
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// The codes of diagnostics about the configuration. They are stable.
const (
	CodeIO          = "C101"
	CodeTooLarge    = "C102"
	CodeInvalidYAML = "C103"
	CodeDuplicate   = "C104"
	CodeUnknownKey  = "C105"
	CodeWrongType   = "C106"
	CodeNotAllowed  = "C107"
	CodeNotThere    = "C108"
	CodeInactive    = "C109"
	CodeExecuting   = "C110"
	CodeVariable    = "C111"
	CodeTrust       = "C112"
	CodeServers     = "C113"
)

// Codes lists every code in order.
func Codes() []profile.Code {
	return []profile.Code{
		{Code: CodeIO, Name: profile.IO, Severity: profile.SeverityError, Meaning: "A configuration file cannot be read."},
		{Code: CodeTooLarge, Name: profile.InvalidFormat, Severity: profile.SeverityError, Meaning: "A configuration file is over 1 MiB."},
		{Code: CodeInvalidYAML, Name: profile.InvalidYAML, Severity: profile.SeverityError, Meaning: "A configuration file is not valid YAML, or nests deeper than 100 levels."},
		{Code: CodeDuplicate, Name: profile.InvalidYAML, Severity: profile.SeverityError, Meaning: "A key stands twice in the same map; the place named is the second."},
		{Code: CodeUnknownKey, Name: profile.SchemaValidation, Severity: profile.SeverityError, Meaning: "No part of roster knows the key."},
		{Code: CodeWrongType, Name: profile.SchemaValidation, Severity: profile.SeverityError, Meaning: "A value has another type than its key takes."},
		{Code: CodeNotAllowed, Name: profile.SchemaValidation, Severity: profile.SeverityError, Meaning: "A value is outside the range or the set that its key takes."},
		{Code: CodeNotThere, Name: profile.SchemaValidation, Severity: profile.SeverityError, Meaning: "The value names something that this version does not have yet."},
		{Code: CodeInactive, Severity: profile.SeverityNote, Meaning: "A known key that this version reads and does not act on."},
		{Code: CodeExecuting, Name: profile.ExecutingKey, Severity: profile.SeverityWarning, Meaning: "A key of the workspace would start, reach or read something, and nobody has trusted it, or not as it is now. It has no effect."},
		{Code: CodeVariable, Severity: profile.SeverityWarning, Meaning: "An environment variable starts with ROSTER_ and names no key."},
		{Code: CodeTrust, Severity: profile.SeverityWarning, Meaning: "What the user trusts cannot be read, so that nothing is trusted."},
		{Code: CodeServers, Severity: profile.SeverityWarning, Meaning: "A file of another tool that names MCP servers, or one of its servers, cannot be read, and is left out."},
	}
}

// Distrusted reports that nothing is trusted, and why.
func Distrusted(err error) profile.Diagnostic {
	l := &loader{}
	l.report(CodeTrust, source.Origin{File: trust.File}, "", err.Error(), "")
	return l.ds[0]
}

func (l *loader) report(code string, at source.Origin, key, message, hint string) {
	d := profile.Diagnostic{Severity: profile.SeverityError, Code: code, File: at.File, Line: at.Line, Column: at.Column,
		Key: key, Message: message, Hint: hint}
	for _, c := range Codes() {
		if c.Code == code {
			d.Severity, d.Name = c.Severity, string(c.Name)
		}
	}
	l.ds = append(l.ds, d)
}
