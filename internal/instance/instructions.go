package instance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/prompt"
	"lathe/internal/search"
	"lathe/internal/workspace"
)

const (
	maxInstruction  = 256 << 10 // bytes of one instruction file
	maxInstructions = 64        // files
	instructionTime = 5 * time.Second
)

// instructionNames are looked for in this order; the first name that is found
// anywhere counts, at every level.
var instructionNames = [...]string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"}

// Instructions finds the instruction files of a directory.
type Instructions struct {
	*place
	http *http.Client
}

// Known reports whether a file is part of the system prompt already.
func (n *Instructions) Known(path string) bool { return slices.Contains(n.files(), path) }

// files returns the instruction files of the instance, nearest first:
// the project's, the person's own, then those that the configuration names.
func (n *Instructions) files() []string {
	var files []string
	add := func(paths ...string) {
		for _, p := range paths {
			if !slices.Contains(files, p) && len(files) < maxInstructions {
				files = append(files, p)
			}
		}
	}
	if !n.Config.Flags.DisableProjectConfig {
		add(n.project()...)
	}
	for _, p := range n.global() {
		if isRegular(p) {
			add(p)
			break
		}
	}
	for _, pattern := range n.Config.Instructions {
		if !IsURL(pattern) {
			add(n.match(pattern)...)
		}
	}
	return files
}

func (n *Instructions) project() []string {
	for _, name := range instructionNames {
		if name == "CLAUDE.md" && (n.Config.Flags.DisableClaudeCode || n.Config.Flags.DisableClaudeCodePrompt) {
			continue
		}
		var found []string
		for _, dir := range n.upward() {
			if p := filepath.Join(dir, name); isRegular(p) && n.ownFile(p) {
				found = append(found, p)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

func (n *Instructions) global() []string {
	paths := []string{filepath.Join(n.Paths.Config, "AGENTS.md"), filepath.Join(n.Paths.OpenCodeConfig, "AGENTS.md")}
	if !n.Config.Flags.DisableClaudeCode && !n.Config.Flags.DisableClaudeCodePrompt {
		paths = append(paths, filepath.Join(n.Paths.Home, ".claude", "CLAUDE.md"))
	}
	if dir := n.Config.Flags.ConfigDir; dir != "" {
		paths = append(paths, filepath.Join(dir, "AGENTS.md"))
	}
	return paths
}

// match returns the files that a configured pattern names: absolute,
// in the home directory, or relative to any directory up to the checkout's top.
func (n *Instructions) match(pattern string) []string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(n.Paths.Home, rest)
	}
	if filepath.IsAbs(pattern) {
		return globFiles(filepath.Dir(pattern), filepath.Base(pattern))
	}
	dirs := n.upward()
	if n.Config.Flags.DisableProjectConfig {
		dirs = nil
		if n.Config.Flags.ConfigDir != "" {
			dirs = []string{n.Config.Flags.ConfigDir}
		}
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, slices.DeleteFunc(globFiles(dir, filepath.ToSlash(pattern)), func(p string) bool { return !n.ownFile(p) })...)
	}
	return out
}

func globFiles(dir, pattern string) []string {
	found, err := search.Expand(context.Background(), dir, pattern)
	if err != nil {
		return nil
	}
	out := make([]string, 0, len(found))
	for _, f := range found {
		out = append(out, filepath.Join(dir, filepath.FromSlash(f)))
	}
	return out
}

func IsURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Read returns the content of the instruction files that can be read.
func (n *Instructions) Read() []prompt.Instruction {
	var out []prompt.Instruction
	for _, p := range n.files() {
		data, err := workspace.ReadFile(p, maxInstruction)
		if err != nil {
			n.log.Warn("an instruction file was left out", "path", p, "err", err)
			continue
		}
		if text := strings.ToValidUTF8(string(data), "\uFFFD"); strings.TrimSpace(text) != "" {
			out = append(out, prompt.Instruction{Path: p, Content: text})
		}
	}
	return out
}

// Fetch fetches the instructions that the configuration names by URL. One that
// does not answer in time is left out.
func (n *Instructions) Fetch(ctx context.Context) []prompt.Instruction {
	var out []prompt.Instruction
	for _, u := range n.Config.Instructions {
		if !IsURL(u) {
			continue
		}
		text, err := n.fetch(ctx, u)
		if err != nil {
			n.log.Warn("instructions were left out", "url", u, "err", err)
			continue
		}
		out = append(out, prompt.Instruction{Path: u, Content: text})
	}
	return out
}

func (n *Instructions) fetch(ctx context.Context, u string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return "", err
	}
	res, err := n.http.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", errStatus(res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxInstruction))
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}

func errStatus(code int) error { return fmt.Errorf("HTTP status %d", code) }
