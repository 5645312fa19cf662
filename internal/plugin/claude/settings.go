// Package claude runs the hooks that people have in the settings of Claude Code, with the
// contract that they were written for: what happens as JSON on standard input, an exit
// code or JSON for an answer, and Claude Code's names for tools and their arguments.
package claude

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/trust"
	"lathe/internal/workspace"
)

// Events that hooks can be for.
const (
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	UserPromptSubmit = "UserPromptSubmit"
	Stop             = "Stop"
	SubagentStop     = "SubagentStop"
	SessionStart     = "SessionStart"
	SessionEnd       = "SessionEnd"
	PreCompact       = "PreCompact"
	Notification     = "Notification"
)

// Events are all events that hooks are called for.
var Events = []string{PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, SessionStart, SessionEnd, PreCompact, Notification}

const (
	maxSettings    = 1 << 20
	defaultTimeout = 60 * time.Second
	mostTimeout    = time.Hour
)

// Hook is one command of a settings file.
type Hook struct {
	Event   string        `json:"event"`
	Matcher string        `json:"matcher"` // as it is written
	Command string        `json:"command"` // for a shell
	Timeout time.Duration `json:"timeout"`

	fits func(subject string) bool
	own  bool // the person's; otherwise a repository brought it
}

// File is where settings lie.
type File struct {
	Path string
	// Base is the directory of the repository that brings them; empty for the person's own.
	Base string
}

// Settings are the hooks of one file.
type Settings struct {
	File
	Hooks []Hook
	// Digest stands for the hooks and, if a repository brings them, for the files of it
	// that they name. It is empty if that cannot be said; the hooks do not run then.
	Digest   string
	Problems []string // what of the file is not used, and why
}

// Files returns where settings may lie: the person's, then those of a project's directory.
func Files(home, project string) []File {
	return []File{
		{Path: filepath.Join(home, ".claude", "settings.json")},
		{Path: filepath.Join(project, ".claude", "settings.json"), Base: project},
		{Path: filepath.Join(project, ".claude", "settings.local.json"), Base: project},
	}
}

// Read reads the hooks of a file; a file that is not there has none. What of it cannot be
// used is a problem of the settings, not an error.
func Read(file File) Settings {
	s := Settings{File: file}
	text, err := workspace.ReadFile(file.Path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return s
	}
	var doc struct {
		Off   bool `json:"disableAllHooks"`
		Hooks map[string]json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		s.Problems = append(s.Problems, fmt.Sprintf("it cannot be read: %v", err))
		return s
	}
	if doc.Off {
		return s
	}
	for _, event := range slices.Sorted(maps.Keys(doc.Hooks)) {
		s.event(event, doc.Hooks[event])
	}
	if len(s.Hooks) > 0 {
		s.digest()
	}
	return s
}

// event adds the hooks of an event.
func (s *Settings) event(event string, raw json.RawMessage) {
	if !slices.Contains(Events, event) {
		s.Problems = append(s.Problems, fmt.Sprintf("hooks for %s are not called", event))
		return
	}
	var groups []struct {
		Matcher string
		Hooks   []struct {
			Type, Command string
			Timeout       float64
		}
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		s.Problems = append(s.Problems, fmt.Sprintf("%s is not a list of hooks: %v", event, err))
		return
	}
	for _, g := range groups {
		fits, err := matcher(g.Matcher)
		if err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: hooks with the matcher %q are not called: %v", event, g.Matcher, err))
			continue
		}
		for _, h := range g.Hooks {
			if h.Type != "command" || h.Command == "" {
				s.Problems = append(s.Problems, fmt.Sprintf("%s: a hook of the type %q is not called; only commands are", event, h.Type))
				continue
			}
			s.Hooks = append(s.Hooks, Hook{Event: event, Matcher: g.Matcher, Command: h.Command, Timeout: timeout(h.Timeout), fits: fits, own: s.Base == ""})
		}
	}
}

func timeout(seconds float64) time.Duration {
	if seconds <= 0 {
		return defaultTimeout
	}
	return time.Duration(min(seconds, mostTimeout.Seconds()) * float64(time.Second))
}

// digest binds the settings to their content.
func (s *Settings) digest() {
	bound := struct {
		Hooks []Hook
		Files trust.Files
	}{Hooks: s.Hooks}
	if s.Base != "" {
		var err error
		if bound.Files, err = trust.Scan(s.Base, s.named(), []string{filepath.Join(s.Base, ".claude", "hooks")}); err != nil {
			s.Problems = append(s.Problems, fmt.Sprintf("its hooks do not run: %v", err))
			return
		}
	}
	text, err := json.Marshal(bound)
	if err != nil { // texts and numbers always encode
		panic(err)
	}
	sum := sha256.Sum256(text)
	s.Digest = hex.EncodeToString(sum[:])
}

// named lists the files of the repository that commands name.
func (s *Settings) named() (out []string) {
	base := strings.NewReplacer(`"$CLAUDE_PROJECT_DIR"`, s.Base, `"${CLAUDE_PROJECT_DIR}"`, s.Base, "$CLAUDE_PROJECT_DIR", s.Base, "${CLAUDE_PROJECT_DIR}", s.Base)
	for _, h := range s.Hooks {
		for _, word := range strings.FieldsFunc(base.Replace(h.Command), func(r rune) bool { return strings.ContainsRune(" \t\r\n{}'\"=;|&()<>`$,", r) }) {
			if !filepath.IsAbs(word) {
				word = filepath.Join(s.Base, word)
			}
			rel, err := filepath.Rel(s.Base, word)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				out = append(out, word)
			}
		}
	}
	slices.SortFunc(out, cmp.Compare)
	return slices.Compact(out)
}
