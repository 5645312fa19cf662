package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// pathVariables name files and directories of the person's own configuration.
var pathVariables = []string{
	"OPENCODE_CONFIG", "LATHE_CONFIG", "OPENCODE_TUI_CONFIG", "LATHE_TUI_CONFIG", "OPENCODE_CONFIG_DIR", "LATHE_CONFIG_DIR",
}

// fromHere makes relative paths in environment variables relative to where
// lathe was started, as the person who set them meant. A request may name
// another directory, whose content is not the person's.
func fromHere(getenv func(string) string, dir string) func(string) string {
	return func(name string) string {
		v := getenv(name)
		if v == "" || filepath.IsAbs(v) || v == "~" || strings.HasPrefix(v, "~/") || !slices.Contains(pathVariables, name) {
			return v
		}
		return filepath.Join(dir, v)
	}
}
