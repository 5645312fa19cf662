package sandbox

import (
	_ "embed" // the table
	"os"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed places.txt
var placesText string

// place is a row of the table.
type place struct {
	kind, program string
	paths         []string
}

var places = sync.OnceValue(func() (rows []place) {
	for line := range strings.Lines(placesText) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) >= 2 && !strings.HasPrefix(f[0], "#") {
			rows = append(rows, place{f[0], f[1], f[2:]})
		}
	}
	return rows
})

// Machine says where a person's files are.
type Machine struct {
	Home   string
	Getenv func(string) string
}

// Cache is a directory that a program keeps between its runs.
type Cache struct{ Program, Path string }

// Caches lists those of the programs that are installed. With made, missing ones are
// created, because nothing below a directory that does not exist can be allowed.
func (m Machine) Caches(made bool) (list []Cache) {
	installed := map[string]bool{}
	for _, row := range places() {
		if row.kind != "cache" {
			continue
		}
		path := m.first(row.paths)
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			found, looked := installed[row.program]
			if !looked {
				found = m.installed(row.program)
				installed[row.program] = found
			}
			if !found || !made || os.MkdirAll(path, 0o755) != nil {
				continue
			}
		}
		list = append(list, Cache{row.program, path})
	}
	return list
}

func (m Machine) installed(program string) bool {
	for _, dir := range filepath.SplitList(m.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// Hidden lists what nobody may read: credentials, and sockets of programs that carry
// out requests.
func (m Machine) Hidden() []string { return m.all("hide") }

// Named lists the credentials to which variables of the environment move them.
func (m Machine) Named() (list []string) {
	for _, row := range places() {
		if row.kind != "named" {
			continue
		}
		for _, path := range filepath.SplitList(m.Getenv(row.program)) {
			if rest, ok := strings.CutPrefix(path, "~/"); ok && m.Home != "" {
				path = filepath.Join(m.Home, rest)
			}
			switch {
			case !filepath.IsAbs(path):
			case len(row.paths) == 0:
				list = append(list, filepath.Clean(path))
			default:
				for _, name := range row.paths {
					list = append(list, filepath.Join(path, name))
				}
			}
		}
	}
	return list
}

// StartUp lists what makes programs of the person run something.
func (m Machine) StartUp() []string { return m.all("start") }

func (m Machine) all(kind string) (list []string) {
	for _, row := range places() {
		if row.kind != kind {
			continue
		}
		for _, path := range row.paths {
			if path = m.expand(path); path != "" {
				list = append(list, path)
			}
		}
	}
	return list
}

// first returns the first path whose variables are set.
func (m Machine) first(paths []string) string {
	for _, path := range paths {
		if path = m.expand(path); path != "" && path != "/" && path != m.Home {
			return path
		}
	}
	return ""
}

// expand returns an absolute path, or nothing if a variable in it is not set.
func (m Machine) expand(path string) string {
	missing := false
	path = os.Expand(path, func(name string) string {
		value := m.Getenv(name)
		switch name {
		case "CACHE", "CONFIG", "SHARE":
			value = m.base(name)
		}
		missing = missing || value == ""
		return value
	})
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(m.Home, rest)
		missing = missing || m.Home == ""
	}
	if missing || !filepath.IsAbs(path) {
		return ""
	}
	return strings.ReplaceAll(filepath.Clean(path), "Application_Support", "Application Support")
}

func (m Machine) base(name string) string {
	variable, below := "XDG_CACHE_HOME", ".cache"
	switch name {
	case "CONFIG":
		variable, below = "XDG_CONFIG_HOME", ".config"
	case "SHARE":
		variable, below = "XDG_DATA_HOME", ".local/share"
	}
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	if m.Home == "" {
		return ""
	}
	return filepath.Join(m.Home, below)
}
