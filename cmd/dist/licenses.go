package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)(\..*)?$`)

// licenses are the terms of the modules whose code is in the program.
func licenses(ctx context.Context) ([]file, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/lathe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules: %w", err)
	}
	var all []file
	seen := map[string]bool{"": true}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if seen[line] {
			continue
		}
		seen[line] = true
		path, dir, _ := strings.Cut(line, "\t")
		found, err := licensesOf(path, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func licensesOf(path, dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []file
	for _, e := range entries {
		if e.IsDir() || !licenseName.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "licenses/" + path + "/" + e.Name(), data: data, mode: 0o644})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("module %s has no license file in %s", path, dir)
	}
	return all, nil
}
