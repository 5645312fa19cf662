package config

import (
	"path/filepath"

	"lathe/internal/jsonc"
)

// OwnLanguage returns the language that the person's own configuration names, or "". It
// reads only their files, and complains of nothing: it is asked when something is to be said
// that may be such a complaint.
func OwnLanguage(p Paths) string {
	language := ""
	for _, dir := range []string{p.OpenCodeConfig, p.Config} {
		for _, name := range fileNames {
			path := filepath.Join(dir, name)
			text, err := readFile(path, jsonc.MaxSize)
			if err != nil {
				continue
			}
			if root, err := jsonc.Parse(path, text); err == nil {
				if v := root.Get("language"); v != nil && v.Kind == jsonc.String {
					language = v.Text
				}
			}
		}
	}
	return language
}
