// Package registry knows which hosts the package managers of a project fetch from: by
// the files that show which ecosystems the project uses, as its table has them.
package registry

import (
	_ "embed" // the table
	"slices"
	"strings"
	"sync"

	"lathe/internal/workspace"
)

//go:embed hosts.txt
var table string

//go:embed reports.txt
var reportTable string

var reports = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(reportTable) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out[line] = true
		}
	}
	return out
})

// Reports reports whether a host is one at which programs only report to their makers or
// look for newer versions of themselves.
func Reports(host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	return reports()[host] || reports()["*."+parent]
}

type ecosystem struct {
	name         string
	files, hosts []string
}

var ecosystems = sync.OnceValue(func() []ecosystem {
	var out []ecosystem
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, "|")
		files, hosts, _ := strings.Cut(rest, "|")
		out = append(out, ecosystem{strings.TrimSpace(name), strings.Fields(files), strings.Fields(hosts)})
	}
	return out
})

// uses reports whether a file shows that a project uses the ecosystem.
func (e ecosystem) uses(file string) bool {
	return slices.ContainsFunc(e.files, func(name string) bool {
		ending, any := strings.CutPrefix(name, "*")
		return name == file || any && len(file) > len(ending) && strings.HasSuffix(file, ending)
	})
}

// Used is an ecosystem that a project uses.
type Used struct {
	Name  string
	Hosts []string
}

// What is looked at of a project: enough for one with parts of its own, such as a
// frontend, and little enough to be done while a command waits.
const (
	depth   = 3
	entries = 20_000
)

// Of returns what the project below a directory uses, in the order of the table. What
// was installed into it counts for nothing.
func Of(root string) []Used {
	tree := workspace.Tree{
		Depth: depth, Entries: entries, Enter: func(string) bool { return false },
		Pass: func(name string) bool {
			return name == "node_modules" || name == "vendor" || name == "target" || name == "testdata" || name[0] == '.'
		},
	}
	found := map[string]bool{}
	_, _ = tree.Find(root, func(file string) bool {
		for _, e := range ecosystems() {
			if !found[e.name] && e.uses(file) {
				found[e.name] = true
			}
		}
		return false
	})
	var out []Used
	for _, e := range ecosystems() {
		if found[e.name] {
			out = append(out, Used{e.name, e.hosts})
		}
	}
	return out
}

// Names reports whether an entry of the table stands for a host: by its name, or, where it
// begins with "*.", by the domain.
func Names(entry, host string) bool {
	domain, all := strings.CutPrefix(entry, "*")
	return entry == host || all && strings.HasSuffix(host, domain)
}
