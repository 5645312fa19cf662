package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe"
)

// Messages are a session's, newest first.
type Messages = iter.Seq2[lathe.Message, error]

// mostMessages bounds a transcript: the newest messages are written.
const mostMessages = 2000

// line is one line of a transcript.
type line struct {
	Type      string    `json:"type"`
	SessionID string    `json:"sessionId"`
	UUID      string    `json:"uuid"`
	Dir       string    `json:"cwd"`
	Time      time.Time `json:"timestamp"`
	Message   message   `json:"message"`
}

type message struct {
	Role    string           `json:"role"`
	Model   string           `json:"model,omitempty"`
	Content []map[string]any `json:"content"`
}

// transcript returns the file that tells a session to a hook. For the hooks of calls it
// is not written anew.
func (s *Set) transcript(ctx context.Context, event string, id lathe.SessionID) string {
	path := s.transcriptPath(id)
	if event == PreToolUse || event == PostToolUse {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if err := s.write(path, s.o.Messages(ctx, id)); err != nil {
		s.report(fmt.Errorf("the transcript of the session cannot be written: %w", err))
	}
	return path
}

func (s *Set) transcriptPath(id lathe.SessionID) string {
	return filepath.Join(s.o.Transcripts, string(id)+".jsonl")
}

// write writes messages as JSON Lines in the shape of Claude Code's transcripts.
func (s *Set) write(path string, newest Messages) (err error) {
	var list []lathe.Message
	for m, err := range newest {
		if err != nil {
			return err
		}
		if list = append(list, m); len(list) == mostMessages {
			break
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".transcript-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // what was moved is not there any more
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, m := range slices.Backward(list) {
		for _, l := range s.lines(m) {
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lines tells a message; the results of its calls are a message of the user's.
func (s *Set) lines(m lathe.Message) []line {
	said := line{Type: "user", SessionID: string(m.SessionID), UUID: string(m.ID), Dir: s.o.Place.Dir, Time: m.Created, Message: message{Role: "user"}}
	results := said
	results.UUID += "-results"
	if info, ok := m.Info.(*lathe.Assistant); ok {
		said.Type, said.Message.Role, said.Message.Model = "assistant", "assistant", info.Model.Model
	}
	for _, p := range m.Parts {
		switch body := p.Body.(type) {
		case *lathe.Text:
			said.Message.Content = append(said.Message.Content, map[string]any{"type": "text", "text": body.Text})
		case *lathe.ToolCall:
			use, result := s.use(body)
			said.Message.Content = append(said.Message.Content, use)
			if result != nil {
				results.Message.Content = append(results.Message.Content, result)
			}
		}
	}
	var out []line
	for _, l := range []line{said, results} {
		if len(l.Message.Content) > 0 {
			out = append(out, l)
		}
	}
	return out
}

func (s *Set) use(body *lathe.ToolCall) (use, result map[string]any) {
	done := func(text string, failed bool) map[string]any {
		return map[string]any{"type": "tool_result", "tool_use_id": body.CallID, "content": text, "is_error": failed}
	}
	var input json.RawMessage
	switch state := body.State.(type) {
	case *lathe.ToolRunning:
		input = state.Input
	case *lathe.ToolDone:
		input, result = state.Input, done(state.Output, false)
	case *lathe.ToolFailed:
		input, result = state.Input, done(state.Error, true)
	}
	c := s.calls(body.Tool, input)[0]
	return map[string]any{"type": "tool_use", "id": body.CallID, "name": c.Name, "input": c.Input}, result
}
