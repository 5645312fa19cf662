package compose

import (
	"strings"

	"lathe/internal/tui/styled"
)

const mostResources = 20 // that are offered

// resources returns what MCP servers can be asked to read. What is chosen is sent as
// "@server:address", which the engine reads.
func (c *Composer) resources(query string) (out []Completion) {
	if c.access.Able.Servers == nil {
		return nil
	}
	all, err := c.access.Able.Servers.Resources(c.access.Context())
	if err != nil {
		return nil // files are offered all the same
	}
	query = strings.ToLower(query)
	for _, r := range all {
		name := r.Server + ":" + r.URI
		if strings.ContainsAny(name, " \t\n,`\x1b") || !strings.Contains(strings.ToLower(name+" "+r.Name), query) {
			continue
		}
		detail := "resource: " + r.Name
		if r.Description != "" {
			detail += ", " + r.Description
		}
		out = append(out, Completion{Insert: "@" + name + " ", Label: styled.OneLine(name), Detail: styled.OneLine(detail)})
		if len(out) == mostResources {
			break
		}
	}
	return out
}
