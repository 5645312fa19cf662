// Package transcript writes a session for people to read elsewhere: as one
// self-contained HTML page that opens offline and loads nothing, or as Markdown.
// It also takes out what should not leave the machine: secrets always, and on
// request everything that was said.
package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/redact"
	"lathe/internal/say"
)

// Session is what a transcript is made of.
type Session struct {
	Info     lathe.Session
	Messages []lathe.Message
	Diffs    []lathe.FileDiff
	Hidden   int // messages that were reverted and are left out
}

// hiddenNote tells of messages that are left out.
func (s Session) hiddenNote() string {
	switch s.Hidden {
	case 0:
		return ""
	case 1:
		return "One message was reverted and is left out."
	}
	return say.Plural(s.Hidden, "message") + " were reverted and are left out."
}

// Redacted returns a copy without what looks like a secret.
func Redacted(s Session) Session { return mapTexts(s, mapper{text: redact.Text}) }

// Sanitized returns a copy that shows what happened but not what was said: texts,
// names and contents are replaced by their length.
func Sanitized(s Session) Session {
	out := mapTexts(s, mapper{all: true, text: func(text string) string {
		if text == "" {
			return ""
		}
		return "[redacted: " + strconv.Itoa(len(text)) + " bytes]"
	}})
	out.Info.Directory, out.Info.Share = "/redacted", nil
	return out
}

// mapper changes texts; all says that it leaves none as it is.
type mapper struct {
	text func(string) string
	all  bool
}

// mapTexts returns a copy in which f is applied to every text that people, the
// model or tools wrote.
func mapTexts(s Session, f mapper) Session {
	out := Session{Info: s.Info, Hidden: s.Hidden}
	out.Info.Title = f.text(s.Info.Title)
	out.Info.Rules = nil
	for _, r := range s.Info.Rules {
		r.Pattern = f.text(r.Pattern)
		out.Info.Rules = append(out.Info.Rules, r)
	}
	if s.Info.Revert != nil {
		r := *s.Info.Revert
		r.Diff = f.text(r.Diff)
		out.Info.Revert = &r
	}
	for _, d := range s.Diffs {
		out.Diffs = append(out.Diffs, mapDiff(d, f))
	}
	for _, m := range s.Messages {
		c := m
		c.Info = mapInfo(m.Info, f)
		c.Parts = make([]lathe.Part, len(m.Parts))
		for i, p := range m.Parts {
			c.Parts[i] = p
			c.Parts[i].Body = mapBody(p.Body, f)
		}
		out.Messages = append(out.Messages, c)
	}
	return out
}

func mapDiff(d lathe.FileDiff, f mapper) lathe.FileDiff {
	d.File, d.Before, d.After, d.Patch = f.text(d.File), f.text(d.Before), f.text(d.After), f.text(d.Patch)
	return d
}

func mapInfo(info lathe.MessageInfo, f mapper) lathe.MessageInfo {
	switch i := info.(type) {
	case *lathe.User:
		c := *i
		c.System = f.text(c.System)
		if i.Summary != nil {
			sum := *i.Summary
			sum.Title, sum.Body, sum.Diffs = f.text(sum.Title), f.text(sum.Body), nil
			for _, d := range i.Summary.Diffs {
				sum.Diffs = append(sum.Diffs, mapDiff(d, f))
			}
			c.Summary = &sum
		}
		return &c
	case *lathe.Assistant:
		c := *i
		c.Cwd, c.Root = f.text(c.Cwd), f.text(c.Root)
		if c.Error != nil {
			c.Error = &lathe.UnknownFailure{Message: f.text(c.Error.Error())}
		}
		return &c
	}
	return info
}

// mapBody drops what providers attached, which nobody can look into.
func mapBody(body lathe.PartBody, f mapper) lathe.PartBody {
	switch b := body.(type) {
	case *lathe.Text:
		c := *b
		c.Text, c.Meta = f.text(c.Text), nil
		return &c
	case *lathe.Reasoning:
		c := *b
		c.Text, c.Meta = f.text(c.Text), nil
		return &c
	case *lathe.File:
		c := mapFile(*b, f)
		return &c
	case *lathe.ToolCall:
		c := *b
		c.State, c.Meta = mapState(b.State, f), nil
		return &c
	case *lathe.Patch:
		c := lathe.Patch{Hash: b.Hash}
		for _, name := range b.Files {
			c.Files = append(c.Files, f.text(name))
		}
		return &c
	case *lathe.Subtask:
		c := *b
		c.Prompt, c.Description = f.text(c.Prompt), f.text(c.Description)
		return &c
	case *lathe.Retry:
		c := *b
		if c.Error != nil {
			c.Error = &lathe.UnknownFailure{Message: f.text(c.Error.Error())}
		}
		return &c
	case *lathe.AgentMention:
		return &lathe.AgentMention{Name: b.Name}
	}
	return body
}

func mapFile(file lathe.File, f mapper) lathe.File {
	file.Filename, file.Source = f.text(file.Filename), nil
	if f.all || !strings.HasPrefix(file.URL, "data:image/") {
		file.URL = f.text(file.URL)
	}
	return file
}

func mapState(state lathe.ToolState, f mapper) lathe.ToolState {
	switch st := state.(type) {
	case *lathe.ToolPending:
		return &lathe.ToolPending{Raw: f.text(st.Raw)}
	case *lathe.ToolRunning:
		return &lathe.ToolRunning{Input: mapJSON(st.Input, f), Title: f.text(st.Title), Metadata: mapMeta(st.Metadata, f), Start: st.Start}
	case *lathe.ToolDone:
		c := *st
		c.Input, c.Output, c.Title, c.Metadata, c.Attachments = mapJSON(st.Input, f), f.text(st.Output), f.text(st.Title), mapMeta(st.Metadata, f), nil
		for _, a := range st.Attachments {
			c.Attachments = append(c.Attachments, mapFile(a, f))
		}
		return &c
	case *lathe.ToolFailed:
		c := *st
		c.Input, c.Error, c.Metadata = mapJSON(st.Input, f), f.text(st.Error), mapMeta(st.Metadata, f)
		return &c
	}
	return state
}

func mapMeta(m map[string]any, f mapper) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := mapValue(m, f).(map[string]any)
	return out
}

// mapJSON applies f to the strings of a document; what is no JSON is a text.
func mapJSON(raw json.RawMessage, f mapper) json.RawMessage {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		v = string(raw)
	}
	out, err := json.Marshal(mapValue(v, f))
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

func mapValue(v any, f mapper) any {
	switch v := v.(type) {
	case string:
		return f.text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if text, ok := e.(string); ok && text != "" && !f.all && redact.Secret(k) {
				out[k] = redact.Hidden
				continue
			}
			out[k] = mapValue(e, f)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = mapValue(e, f)
		}
		return out
	case json.RawMessage:
		return mapJSON(v, f)
	case float64, bool, nil, int, int64:
		return v
	}
	// Something of a tool's own: by way of JSON it becomes one of the above.
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return nil
	}
	return mapValue(plain, f)
}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
