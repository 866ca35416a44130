package roster

import (
	"fmt"
	"os/exec"
	"strings"
)

// servers says of each MCP server what would keep it from starting, as far as can be
// told without starting it or reading what its variables hold.
func (d *doctor) mcpServers() {
	s, _, err := d.serverSpec("")
	if err != nil {
		d.add("servers", "mcp-servers", "error", err.Error(), "")
		return
	}
	for i := range s.Servers {
		x := &s.Servers[i]
		var missing []string
		if _, err := x.Reach.Expand(func(name string) (string, bool) {
			_, ok := d.serverVariable(name)
			return "http://127.0.0.1", ok
		}); err != nil {
			missing = append(missing, err.Error())
		}
		if c := x.Reach.Command; c != "" && !strings.ContainsAny(c, "/$") {
			if _, err := exec.LookPath(c); err != nil {
				missing = append(missing, fmt.Sprintf("the program %s is not on the PATH", c))
			}
		}
		where := fmt.Sprintf("%s, at %s", x.Text, x.At)
		if len(missing) > 0 {
			d.add("servers", x.Name, "warning", strings.Join(missing, "; ")+": "+where, "without it the server is left out, and runs go on")
			continue
		}
		d.add("servers", x.Name, "ok", where, "")
	}
}
