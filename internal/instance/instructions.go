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

	"github.com/bmatcuk/doublestar/v4"

	"lathe/internal/prompt"
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

// instructionFiles returns the instruction files of the instance, nearest first:
// the project's, the person's own, then those that the configuration names.
func (i *Instance) instructionFiles() []string {
	var files []string
	add := func(paths ...string) {
		for _, p := range paths {
			if !slices.Contains(files, p) && len(files) < maxInstructions {
				files = append(files, p)
			}
		}
	}
	if !i.Config.Flags.DisableProjectConfig {
		add(i.projectInstructions()...)
	}
	for _, p := range i.globalInstructions() {
		if isRegular(p) {
			add(p)
			break
		}
	}
	for _, pattern := range i.Config.Instructions {
		if !IsURL(pattern) {
			add(i.matchInstructions(pattern)...)
		}
	}
	return files
}

func (i *Instance) projectInstructions() []string {
	for _, name := range instructionNames {
		if name == "CLAUDE.md" && (i.Config.Flags.DisableClaudeCode || i.Config.Flags.DisableClaudeCodePrompt) {
			continue
		}
		var found []string
		for _, dir := range i.upward() {
			if p := filepath.Join(dir, name); isRegular(p) && i.ownFile(p) {
				found = append(found, p)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// upward returns the directories from the instance's to the checkout's top.
func (i *Instance) upward() []string {
	dirs := []string{i.Root.Dir}
	if i.Root.VCS == "" {
		return dirs
	}
	for dir := i.Root.Dir; dir != i.Root.TopLevel; {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
		dirs = append(dirs, dir)
	}
	return dirs
}

func (i *Instance) globalInstructions() []string {
	paths := []string{filepath.Join(i.Paths.Config, "AGENTS.md"), filepath.Join(i.Paths.OpenCodeConfig, "AGENTS.md")}
	if !i.Config.Flags.DisableClaudeCode && !i.Config.Flags.DisableClaudeCodePrompt {
		paths = append(paths, filepath.Join(i.Paths.Home, ".claude", "CLAUDE.md"))
	}
	if dir := i.Config.Flags.ConfigDir; dir != "" {
		paths = append(paths, filepath.Join(dir, "AGENTS.md"))
	}
	return paths
}

// matchInstructions returns the files that a configured pattern names: absolute,
// in the home directory, or relative to any directory up to the checkout's top.
func (i *Instance) matchInstructions(pattern string) []string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(i.Paths.Home, rest)
	}
	if filepath.IsAbs(pattern) {
		return globFiles(filepath.Dir(pattern), filepath.Base(pattern))
	}
	dirs := i.upward()
	if i.Config.Flags.DisableProjectConfig {
		dirs = nil
		if i.Config.Flags.ConfigDir != "" {
			dirs = []string{i.Config.Flags.ConfigDir}
		}
	}
	var out []string
	for _, dir := range dirs {
		out = append(out, slices.DeleteFunc(globFiles(dir, filepath.ToSlash(pattern)), func(p string) bool { return !i.ownFile(p) })...)
	}
	return out
}

func globFiles(dir, pattern string) []string {
	found, err := doublestar.Glob(os.DirFS(dir), pattern, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil
	}
	slices.Sort(found)
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

// ReadInstructions returns the content of the instruction files that can be read.
func (i *Instance) ReadInstructions() []prompt.Instruction {
	var out []prompt.Instruction
	for _, p := range i.instructionFiles() {
		data, err := workspace.ReadFile(p, maxInstruction)
		if err != nil {
			i.Log.Warn("an instruction file was left out", "path", p, "err", err)
			continue
		}
		if text := strings.ToValidUTF8(string(data), "\uFFFD"); strings.TrimSpace(text) != "" {
			out = append(out, prompt.Instruction{Path: p, Content: text})
		}
	}
	return out
}

// FetchInstructions gets the instructions that the configuration names by
// address. One that does not answer in time is left out.
func (i *Instance) FetchInstructions(ctx context.Context) []prompt.Instruction {
	var out []prompt.Instruction
	for _, u := range i.Config.Instructions {
		if !IsURL(u) {
			continue
		}
		text, err := i.fetch(ctx, u)
		if err != nil {
			i.Log.Warn("instructions were left out", "url", u, "err", err)
			continue
		}
		out = append(out, prompt.Instruction{Path: u, Content: text})
	}
	return out
}

func (i *Instance) fetch(ctx context.Context, u string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, instructionTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return "", err
	}
	res, err := i.http.Do(req)
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
