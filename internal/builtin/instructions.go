package builtin

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

const maxInstructions = 64 << 10 // bytes of one instruction file

// instructionNames returns the instruction files of a directory; the first that exists counts.
func instructionNames() [3]string { return [3]string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} }

// claims remembers which instruction files the newest assistant message of each
// session has loaded, so that parallel reads do not load one twice.
type claims struct {
	mu     sync.Mutex
	newest map[lathe.SessionID]claim
}

type claim struct {
	message lathe.MessageID
	paths   map[string]bool
}

func newClaims() *claims { return &claims{newest: make(map[lathe.SessionID]claim)} }

// take reports whether the call is the first of its message to load the file.
func (c *claims) take(call *tool.Call, path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.newest[call.SessionID]
	if own.message != call.MessageID || own.paths == nil {
		own = claim{call.MessageID, make(map[string]bool)}
		c.newest[call.SessionID] = own
	}
	if own.paths[path] {
		return false
	}
	own.paths[path] = true
	return true
}

// instructions finds the instruction files between a file and the session's
// directory that the model has not seen, and the text that presents them.
func (r *reader) instructions(call *tool.Call, path string) ([]string, string) {
	loaded := []string{}
	if !within(r.env.Root.Dir, path) {
		return loaded, ""
	}
	var b strings.Builder
	var known map[string]bool
	rules := r.env.reading(call)
	for dir := filepath.Dir(path); within(r.env.Root.Dir, dir) && len(dir) > len(r.env.Root.Dir); dir = filepath.Dir(dir) {
		file, text, ok := r.instruction(rules, dir)
		if !ok || file == path || r.env.Known(file) {
			continue
		}
		if known == nil {
			known = alreadyLoaded(call.Messages)
		}
		if known[file] || !r.claims.take(call, file) {
			continue
		}
		loaded = append(loaded, file)
		fmt.Fprintf(&b, "Instructions from: %s\n%s\n\n", file, text)
	}
	if len(loaded) == 0 {
		return loaded, ""
	}
	return loaded, "\n\n<system-reminder>\n" + strings.TrimSpace(b.String()) + "\n</system-reminder>"
}

// instruction reads the instruction file of one directory. A link that leads out
// of the workspace, or to what may not be read without an ask, does not count.
func (r *reader) instruction(rules tool.Reading, dir string) (path, text string, ok bool) {
	for _, name := range instructionNames() {
		path = filepath.Join(dir, name)
		real, err := workspace.Resolve(path)
		if err != nil || !r.env.Root.Contains(real) {
			continue
		}
		if v := rules.Content(real); v.Action != lathe.Allow && v.Rule.Pattern != "*" {
			continue
		}
		data, err := workspace.ReadFile(real, maxInstructions)
		if err != nil {
			continue
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\ufffd"))
		return path, text, text != ""
	}
	return "", "", false
}

// alreadyLoaded collects the instruction files that earlier reads showed and
// the model still sees.
func alreadyLoaded(messages []lathe.Message) map[string]bool {
	known := make(map[string]bool)
	for _, m := range messages {
		for _, p := range m.Parts {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok || c.Tool != "read" {
				continue
			}
			done, ok := c.State.(*lathe.ToolDone)
			if !ok || !done.Compacted.IsZero() {
				continue
			}
			for _, path := range texts(done.Metadata["loaded"]) {
				known[path] = true
			}
		}
	}
	return known
}

// texts reads a list of strings as made here or as decoded from JSON.
func texts(v any) []string {
	switch t := v.(type) {
	case []string:
		return t
	case []any:
		var out []string
		for _, item := range t {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
