package render

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/profile"
)

// The parts of a SARIF 2.1.0 log (OASIS, "Static Analysis Results Interchange
// Format") that a list of diagnostics fills.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		Name             string    `json:"name,omitempty"`
		ShortDescription sarifText `json:"shortDescription"`
		Configuration    struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// SARIF writes diagnostics as a SARIF 2.1.0 log, as code hosts and editors read
// it. Its rules are the codes that occur; codes explains them. Columns count
// characters.
func SARIF(w io.Writer, version string, codes []profile.Code, ds []profile.Diagnostic) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "roster", Version: version, Rules: []sarifRule{}}
	index := map[string]int{} // of a code's rule
	for i := range ds {
		d := &ds[i]
		rule, known := index[d.Code]
		if !known {
			rule = len(run.Tool.Driver.Rules)
			index[d.Code] = rule
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSarifRule(codeOf(codes, d)))
		}
		run.Results = append(run.Results, newSarifResult(d, rule))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func codeOf(codes []profile.Code, d *profile.Diagnostic) profile.Code {
	if i := slices.IndexFunc(codes, func(c profile.Code) bool { return c.Code == d.Code }); i >= 0 {
		return codes[i]
	}
	return profile.Code{Code: d.Code, Severity: d.Severity, Meaning: d.Message}
}

func newSarifRule(c profile.Code) sarifRule {
	r := sarifRule{ID: c.Code, Name: string(c.Name), ShortDescription: sarifText{c.Meaning}}
	r.Configuration.Level = string(c.Severity)
	return r
}

func newSarifResult(d *profile.Diagnostic, rule int) sarifResult {
	text := d.Message
	if d.Hint != "" {
		text += ": " + d.Hint
	}
	r := sarifResult{RuleID: d.Code, RuleIndex: rule, Level: string(d.Severity), Message: sarifText{text}}
	var at sarifLocation
	at.Physical.Artifact.URI = fileURI(d.File)
	if d.Line > 0 {
		at.Physical.Region = &sarifRegion{d.Line, d.Column}
	}
	r.Locations = []sarifLocation{at}
	return r
}

func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
