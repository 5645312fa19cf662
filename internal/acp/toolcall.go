package acp

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"lathe"
)

const (
	liveTail   = 8 << 10   // bytes of a running command's output that are shown
	maxContent = 256 << 10 // bytes of one result that are shown
)

// kinds are what editors call the tools; others are "other".
var kinds = map[string]string{
	"read": "read", "list": "read", "recall": "read", "skill": "read",
	"grep": "search", "glob": "search", "websearch": "search", "codesearch": "search",
	"edit": "edit", "write": "edit", "multiedit": "edit", "apply_patch": "edit",
	"bash": "execute", "job": "execute", "webfetch": "fetch",
	"todowrite": "think", "todoread": "think", "task": "think",
	"plan_enter": "switch_mode", "plan_exit": "switch_mode",
}

func kindOf(tool string) string {
	if k, ok := kinds[tool]; ok {
		return k
	}
	return "other"
}

// callID names a call in the editor: models may use an id twice in a session.
func callID(m lathe.MessageID, call string) string { return string(m) + ":" + call }

// call sends the state of a tool call. The caller holds mu.
func (l *teller) call(p lathe.Part, c *lathe.ToolCall) {
	u := toolUpdate{Update: "tool_call_update", ID: callID(p.MessageID, c.CallID)}
	has := l.told[p.ID]
	if has == nil {
		has = &told{}
		l.told[p.ID] = has
		u.Update, u.Title, u.Name, u.Kind = "tool_call", c.Tool, c.Tool, kindOf(c.Tool)
	}
	was := has.state
	switch s := c.State.(type) {
	case *lathe.ToolPending:
		u.Status = "pending"
		if was != "" {
			return
		}
	case *lathe.ToolRunning:
		u.Status = "in_progress"
		if was != u.Status {
			l.arguments(&u, c.Tool, s.Input)
		}
		u.Content = live(s.Metadata)
		if was == u.Status && u.Content == nil {
			return
		}
	case *lathe.ToolDone:
		u.Status = "completed"
		if was == u.Status {
			return
		}
		l.arguments(&u, c.Tool, s.Input)
		u.Content = results(c.Tool, s)
	case *lathe.ToolFailed:
		u.Status = "failed"
		if was == u.Status {
			return
		}
		l.arguments(&u, c.Tool, s.Input)
		u.Content = []toolContent{textContent(s.Error)}
	}
	has.state = u.Status
	l.t.a.notify(l.t.id, u)
}

// arguments adds what a call works on.
func (l *teller) arguments(u *toolUpdate, tool string, input json.RawMessage) {
	if !json.Valid(input) {
		return
	}
	u.RawInput = input
	u.Kind = kindOf(tool)
	u.Title, u.Locations = describe(tool, input, l.t.dir)
}

// described has the arguments that show what a call does.
type described struct {
	FilePath    string `json:"filePath"`
	Path        string `json:"path"`
	Command     string `json:"command"`
	Description string `json:"description"`
	Pattern     string `json:"pattern"`
	URL         string `json:"url"`
	Query       string `json:"query"`
	Offset      int    `json:"offset"`
}

// describe returns the title of a call and the files that it works on.
func describe(tool string, input json.RawMessage, dir string) (title string, at []location) {
	var in described
	_ = json.Unmarshal(input, &in) // arguments of another shape describe nothing
	path := in.FilePath
	if path == "" && kindOf(tool) != "execute" {
		path = in.Path
	}
	if path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		at = []location{{Path: path}}
		if tool == "read" && in.Offset > 0 {
			at[0].Line = in.Offset
		}
	}
	about := in.Command
	for _, s := range []string{in.Pattern, in.URL, in.Query, in.Description} {
		if about == "" {
			about = s
		}
	}
	if about == "" && path != "" {
		about = path
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			about = rel
		}
	}
	return titled(tool, about), at
}

func titled(tool, about string) string {
	if about == "" {
		return tool
	}
	if tool == "bash" {
		return "`" + strings.ReplaceAll(about, "`", "'") + "`"
	}
	return tool + " " + about
}

// live is what a running call has printed so far: its end.
func live(metadata map[string]any) []toolContent {
	out, _ := metadata["output"].(string)
	if out == "" {
		return nil
	}
	if len(out) > liveTail {
		out = out[len(out)-liveTail:]
		for len(out) > 0 && !utf8.RuneStart(out[0]) {
			out = out[1:]
		}
		out = "…" + out
	}
	return []toolContent{textContent(fenced(out))}
}

// results is what a call that succeeded shows: its changes, else its output.
func results(tool string, s *lathe.ToolDone) []toolContent {
	if kindOf(tool) == "edit" {
		if diffs := changes(s.Metadata); len(diffs) > 0 {
			return diffs
		}
	}
	text := s.Output
	if _, rest, ok := strings.Cut(text, "<content>\n"); ok && tool == "read" {
		text, _, _ = strings.Cut(rest, "\n</content>")
	}
	if len(text) > maxContent {
		cut := maxContent
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "\n…"
	}
	switch kindOf(tool) {
	case "execute", "read", "search":
		text = fenced(text)
	}
	out := []toolContent{textContent(text)}
	for _, f := range s.Attachments {
		if data, ok := inlineImage(&f); ok {
			out = append(out, toolContent{Type: "content", Content: &contentBlock{Type: "image", Data: data, MIMEType: f.MIME}})
		}
	}
	return out
}

// changed is a file's change as tools record it.
type changed struct {
	File     string  `json:"file"`
	FilePath string  `json:"filePath"`
	Before   *string `json:"before"`
	After    *string `json:"after"`
}

// changes returns the changes that a tool recorded. There are none if the tool left
// out the texts because they are large.
func changes(metadata map[string]any) []toolContent {
	raw, err := json.Marshal(map[string]any{"filediff": metadata["filediff"], "files": metadata["files"]})
	if err != nil {
		return nil
	}
	var rec struct {
		Diff  *changed  `json:"filediff"`
		Files []changed `json:"files"`
	}
	if json.Unmarshal(raw, &rec) != nil {
		return nil
	}
	if rec.Diff != nil {
		rec.Files = []changed{*rec.Diff}
	}
	var out []toolContent
	for _, c := range rec.Files {
		path := c.FilePath
		if path == "" {
			path = c.File
		}
		if c.After == nil || !filepath.IsAbs(path) {
			continue
		}
		d := toolContent{Type: "diff", Path: path, NewText: c.After}
		if c.Before != nil && *c.Before != "" {
			d.OldText = c.Before
		}
		out = append(out, d)
	}
	return out
}

func textContent(text string) toolContent {
	b := textBlock(text)
	return toolContent{Type: "content", Content: &b}
}

// fenced puts output into a Markdown code block that the output cannot close.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// inlineImage returns the base64 data of a picture that is in its address.
func inlineImage(f *lathe.File) (string, bool) {
	if !strings.HasPrefix(f.MIME, "image/") {
		return "", false
	}
	_, data, ok := strings.Cut(f.URL, ";base64,")
	return data, ok && strings.HasPrefix(f.URL, "data:")
}

// inlineText returns the text of a file that is in its address.
func inlineText(f *lathe.File) (string, bool) {
	head, data, ok := strings.Cut(f.URL, ";base64,")
	if !ok || !strings.HasPrefix(head, "data:text/") {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(data)
	return string(text), err == nil
}
