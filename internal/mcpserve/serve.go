// Package mcpserve is lathe as a server of the model context protocol: other agents and
// editors start sessions, prompt them, look at them and search them.
//
// It is a face like the screen and the command line, and reaches the engine through the
// client's calls. Permissions are asked for by elicitation if the client at the other
// end can show a question, and refused if it cannot.
package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// Engine is what the server needs of lathe; [client.Client] has it.
type Engine interface {
	Create(ctx context.Context, in api.SessionRequest) (lathe.Session, error)
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error)
	Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error)
	Status(ctx context.Context, id lathe.SessionID) (lathe.Status, error)
	Search(ctx context.Context, s api.Search) ([]api.Hit, error)
	Prompt(ctx context.Context, id lathe.SessionID, p api.Prompt) (lathe.MessageID, error)
	Outcome(ctx context.Context, id lathe.SessionID, m lathe.MessageID) (api.Outcome, error)
	Abort(ctx context.Context, id lathe.SessionID) error
	Follow(ctx context.Context) iter.Seq2[client.Update, error]
	Reply(ctx context.Context, id lathe.AskID, r lathe.Reply) error
	Answer(ctx context.Context, id lathe.AskID, answers [][]string) error
}

// Run serves over a reader and a writer until the reader or ctx ends.
func Run(ctx context.Context, e Engine, in io.ReadCloser, out io.WriteCloser) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "lathe", Title: "lathe, a coding agent", Version: lathe.Version}, &mcp.ServerOptions{
		Instructions: "lathe is a coding agent that works in the directory it was started in. Start with prompt; continue by giving the session that it answers with.",
	})
	f := &face{e}
	add(s, "start_session", "Start a session of the coding agent and return its id. prompt does so by itself where it is given no session.",
		`{"title":{"type":"string"}}`, nil, f.start)
	add(s, "prompt", "Give the coding agent a task, or go on with one, and wait for its answer.",
		`{"text":{"type":"string","description":"What it is to do"},"session":{"type":"string","description":"The session to continue; left out: a new one"},"model":{"type":"string","description":"provider/model"},"agent":{"type":"string"}}`, []string{"text"}, f.prompt)
	add(s, "session_state", "Tell what a session does, its tasks, and its newest messages.",
		`{"session":{"type":"string"},"messages":{"type":"integer","minimum":1,"maximum":50,"description":"How many; 5 where left out"}}`, []string{"session"}, f.state)
	add(s, "search_sessions", "Search the texts of earlier sessions.",
		`{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100}}`, []string{"query"}, f.search)
	add(s, "abort", "Stop what a session does.", `{"session":{"type":"string"}}`, []string{"session"}, f.abort)
	return s.Run(ctx, asking{&mcp.IOTransport{Reader: in, Writer: out}})
}

// asking is a transport limited to protocol versions in which a server may ask its
// client something while it answers.
type asking struct{ mcp.Transport }

// SupportsProtocolVersion reports whether a version allows that.
func (asking) SupportsProtocolVersion(v string) bool { return v <= "2025-11-25" }

// input are the arguments of all tools.
type input struct {
	Session, Title, Text, Model, Agent, Query string
	Messages, Limit                           int
}

type handler func(ctx context.Context, req *mcp.CallToolRequest, in input) (string, error)

// add adds a tool. An error of its handler is its result.
func add(s *mcp.Server, name, description, properties string, required []string, do handler) {
	schema := map[string]any{"type": "object", "properties": json.RawMessage(properties), "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in input
		err := json.Unmarshal(req.Params.Arguments, &in)
		text := ""
		if err == nil {
			text, err = do(ctx, req, in)
		}
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
}

// face answers the tools.
type face struct{ e Engine }

func (f *face) start(ctx context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
	var r api.SessionRequest
	if in.Title != "" {
		r.Title = &in.Title
	}
	sess, err := f.e.Create(ctx, r)
	return "session: " + string(sess.ID), err
}

func (f *face) state(ctx context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
	id := lathe.SessionID(in.Session)
	sess, err := f.e.Get(ctx, id)
	if err != nil {
		return "", err
	}
	status, err := f.e.Status(ctx, id)
	if err != nil {
		return "", err
	}
	todos, err := f.e.Todos(ctx, id)
	if err != nil {
		return "", err
	}
	if in.Messages == 0 {
		in.Messages = 5
	}
	list, err := f.e.Messages(ctx, id, min(in.Messages, 50))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session: %s\ntitle: %s\ndirectory: %s\nstatus: %s\n", id, sess.Title, sess.Directory, statusWord(status))
	for _, t := range todos {
		fmt.Fprintf(&b, "task (%s): %s\n", t.Status, t.Content)
	}
	for _, m := range list {
		who := "user"
		if _, ok := m.Info.(*lathe.Assistant); ok {
			who = "assistant"
		}
		fmt.Fprintf(&b, "\n%s: %s\n", who, told(&m))
	}
	return b.String(), nil
}

func statusWord(s lathe.Status) string {
	switch s := s.(type) {
	case lathe.Busy:
		return "working"
	case lathe.Retrying:
		return "waits to repeat a request: " + s.Message
	}
	return "idle"
}

// told is the text of a message, with its calls in a line each.
func told(m *lathe.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch body := p.Body.(type) {
		case *lathe.Text:
			if !body.Synthetic {
				b.WriteString(body.Text + "\n")
			}
		case *lathe.ToolCall:
			fmt.Fprintf(&b, "[%s]\n", body.Tool)
		}
	}
	return strings.TrimSpace(b.String())
}

func (f *face) search(ctx context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
	if in.Limit == 0 {
		in.Limit = 20
	}
	hits, err := f.e.Search(ctx, api.Search{Words: in.Query, Limit: in.Limit})
	if err != nil {
		return "", err
	}
	if len(hits) == 0 {
		return "nothing was found", nil
	}
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s (%s), %s: %s\n", h.Session, h.Title, h.Role, h.Text)
	}
	return b.String(), nil
}

func (f *face) abort(ctx context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
	return "stopped", f.e.Abort(ctx, lathe.SessionID(in.Session))
}
