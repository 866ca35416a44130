package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
)

// allCodes lists the codes of all diagnostics.
func allCodes() []profile.Code {
	return slices.Concat(profile.Codes(), config.Codes(), resolve.Codes())
}

func (c *cli) explainCodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain-code CODE",
		Short:   "Say what the code of a diagnostic means",
		Long:    "Says what the code of a diagnostic means: by its code, such as P101, or by the name of an error, such as InvalidYAML.",
		Example: "  roster explain-code P101",
		Args:    exactly("CODE"),
		RunE:    func(_ *cobra.Command, args []string) error { return c.explainCode(args[0]) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// codeJSON is a code as explain-code --json writes it.
type codeJSON struct {
	Code     string           `json:"code"`
	Name     string           `json:"name,omitempty"`
	Severity profile.Severity `json:"severity"`
	Meaning  string           `json:"meaning"`
}

func (c *cli) explainCode(want string) error {
	if want == "" {
		return usagef("CODE is empty")
	}
	found := []codeJSON{}
	for _, k := range allCodes() {
		if strings.EqualFold(k.Code, want) || strings.EqualFold(string(k.Name), want) {
			found = append(found, codeJSON{k.Code, string(k.Name), k.Severity, k.Meaning})
		}
	}
	if len(found) == 0 {
		hint := ""
		if near := profile.Nearest(want, codeNames(), 1); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %s?)", near[0])
		}
		return usagef("no diagnostic has the code %q%s", want, hint)
	}
	if c.json {
		return c.writeJSON(found)
	}
	for _, k := range found {
		head := k.Code + " " + string(k.Severity)
		if k.Name != "" {
			head += " " + k.Name
		}
		fmt.Fprintf(c.stdout, "%s\n    %s\n", head, k.Meaning)
	}
	return nil
}

func codeNames() []string {
	var names []string
	for _, k := range allCodes() {
		names = append(names, k.Code)
		if k.Name != "" && !slices.Contains(names, string(k.Name)) {
			names = append(names, string(k.Name))
		}
	}
	return names
}
