// Gosdk completes a session on a server with the published Go SDK of OpenCode.
// Arguments: the server's address, the model's name, a directory. The model plays
// sdkScript of sdk_test.go. It is a module of its own, so that lathe does not
// depend on the SDK.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/sst/opencode-sdk-go"
	"github.com/sst/opencode-sdk-go/option"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: gosdk URL MODEL DIRECTORY")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	d := &driver{
		c: opencode.NewClient(option.WithBaseURL(os.Args[1])), model: os.Args[2], dir: os.Args[3],
		seen: map[string]bool{}, asks: make(chan event, 8), errs: make(chan event, 8), idle: make(chan event, 8),
	}
	if err := d.run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}

// driver drives one session.
type driver struct {
	c              *opencode.Client
	model, dir, id string
	seen           map[string]bool // kinds of events
	asks           chan event      // for a permission or an answer
	errs, idle     chan event
	waiting        chan struct{} // closed when the text that goes before a stall is there
}

// event is what is looked at of an event.
type event struct {
	Type       string
	Properties struct {
		ID, SessionID string
		Error         struct{ Name string }
		Part          struct{ Text string }
	}
}

func (d *driver) run(ctx context.Context) error {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"create", d.create}, {"turn", d.turn}, {"questions", d.questions}, {"refuse", d.refuse}, {"abort", d.abort}, {"shell", d.shell},
		{"revert", d.revert}, {"fork", d.fork}, {"summarize", d.summarize}, {"lists", d.lists}, {"delete", d.remove},
	} {
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// create makes the session and follows the events from before it on. The SDK is
// older than the rules of sessions, so those are added.
func (d *driver) create(ctx context.Context) error {
	stream := d.c.Event.ListStreaming(ctx, opencode.EventListParams{Directory: opencode.F(d.dir)})
	if !stream.Next() {
		return fmt.Errorf("no first event: %v", stream.Err())
	}
	if t := stream.Current().Type; t != "server.connected" {
		return fmt.Errorf("first event %s", t)
	}
	s, err := d.c.Session.New(ctx, opencode.SessionNewParams{Directory: opencode.F(d.dir), Title: opencode.F("go")},
		option.WithJSONSet("permission", []map[string]string{{"permission": "bash", "pattern": "*", "action": "ask"}}))
	if err != nil {
		return err
	}
	if d.id = s.ID; s.Directory != d.dir || s.Title != "go" {
		return fmt.Errorf("made %+v", s)
	}
	d.waiting = make(chan struct{})
	go func() {
		for stream.Next() {
			var ev event
			if err := json.Unmarshal([]byte(stream.Current().JSON.RawJSON()), &ev); err != nil {
				log.Fatal(err)
			}
			d.sort(ev)
		}
	}()
	return nil
}

func (d *driver) sort(ev event) {
	switch ev.Type {
	case "permission.asked", "question.asked":
		d.asks <- ev
	case "session.error":
		d.errs <- ev
	case "session.idle":
		d.idle <- ev
	case "message.part.updated":
		if d.waiting != nil && strings.Contains(ev.Properties.Part.Text, "Now I wait.") {
			close(d.waiting)
			d.waiting = nil
		}
	}
}

func (d *driver) params(text string) opencode.SessionPromptParams {
	return opencode.SessionPromptParams{
		Model: opencode.F(opencode.SessionPromptParamsModel{ProviderID: opencode.F("script"), ModelID: opencode.F(d.model)}),
		Parts: opencode.F([]opencode.SessionPromptParamsPartUnion{
			opencode.TextPartInputParam{Type: opencode.F(opencode.TextPartInputTypeText), Text: opencode.F(text)},
		}),
	}
}

// prompt sends a prompt, answers what is asked with replies, and returns the text
// and the states of the tools of the answer.
func (d *driver) prompt(ctx context.Context, text string, replies ...func(event) error) (string, []string, error) {
	failed := make(chan error, 1)
	go func() {
		for _, reply := range replies {
			if err := reply(<-d.asks); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	m, err := d.c.Session.Prompt(ctx, d.id, d.params(text))
	if err == nil {
		err = <-failed
	}
	if err != nil {
		return "", nil, err
	}
	<-d.idle
	said, states := read(m.Parts)
	return said, states, nil
}

func read(parts []opencode.Part) (text string, states []string) {
	for _, p := range parts {
		switch u := p.AsUnion().(type) {
		case opencode.TextPart:
			text += u.Text
		case opencode.ToolPart:
			states = append(states, string(u.State.Status))
		}
	}
	return text, states
}

func (d *driver) allow(ctx context.Context, how opencode.SessionPermissionRespondParamsResponse) func(event) error {
	return func(ev event) error {
		ok, err := d.c.Session.Permissions.Respond(ctx, d.id, ev.Properties.ID, opencode.SessionPermissionRespondParams{Response: opencode.F(how)})
		if err == nil && !*ok {
			err = errors.New("not taken")
		}
		return err
	}
}

func want(what string, got, want any) error {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return fmt.Errorf("%s is %s, not %s", what, g, w)
	}
	return nil
}

func (d *driver) turn(ctx context.Context) error {
	text, _, err := d.prompt(ctx, "go", d.allow(ctx, "once"), d.allow(ctx, "always"))
	return errors.Join(err, want("the answer", text, "All done."), d.file(ctx, "two"))
}

// questions are newer than the SDK; its client calls them by their paths.
func (d *driver) questions(ctx context.Context) error {
	text, _, err := d.prompt(ctx, "ask", func(ev event) error {
		return d.c.Post(ctx, "question/"+ev.Properties.ID+"/reply", map[string]any{"answers": [][]string{{"blue"}}}, nil)
	})
	if err := errors.Join(err, want("the answer", text, "You chose.")); err != nil {
		return err
	}
	_, states, err := d.prompt(ctx, "dismiss", func(ev event) error {
		return d.c.Post(ctx, "question/"+ev.Properties.ID+"/reject", nil, nil)
	})
	return errors.Join(err, want("the tool", states, []string{"error"}))
}

func (d *driver) refuse(ctx context.Context) error {
	_, states, err := d.prompt(ctx, "refuse", d.allow(ctx, "reject"))
	return errors.Join(err, want("the tool", states, []string{"error"}))
}

func (d *driver) abort(ctx context.Context) error {
	waiting := d.waiting
	answer := make(chan error, 1)
	go func() {
		m, err := d.c.Session.Prompt(ctx, d.id, d.params("wait"))
		if err == nil {
			err = want("the error", m.Info.Error.Name, "MessageAbortedError")
		}
		answer <- err
	}()
	<-waiting
	if _, err := d.c.Session.Abort(ctx, d.id, opencode.SessionAbortParams{}); err != nil {
		return err
	}
	err := want("the event", (<-d.errs).Properties.Error.Name, "MessageAbortedError")
	<-d.idle
	return errors.Join(err, <-answer)
}

// shell is answered with a whole message, where the SDK expects only its head.
func (d *driver) shell(ctx context.Context) error {
	m, err := d.c.Session.Shell(ctx, d.id, opencode.SessionShellParams{Agent: opencode.F("build"), Command: opencode.F("echo from-shell")})
	if err != nil {
		return err
	}
	if raw := m.JSON.RawJSON(); !strings.Contains(raw, "from-shell") {
		return fmt.Errorf("answered %s", raw)
	}
	return nil
}

func (d *driver) file(ctx context.Context, content string) error {
	f, err := d.c.File.Read(ctx, opencode.FileReadParams{Directory: opencode.F(d.dir), Path: opencode.F("made.txt")})
	if err != nil {
		return err
	}
	return want("the file", f.Content, content)
}

func (d *driver) messages(ctx context.Context, id string) ([]opencode.SessionMessagesResponse, error) {
	all, err := d.c.Session.Messages(ctx, id, opencode.SessionMessagesParams{})
	if err != nil {
		return nil, err
	}
	return *all, nil
}

func (d *driver) revert(ctx context.Context) error {
	all, err := d.messages(ctx, d.id)
	if err != nil {
		return err
	}
	first := all[0].Info.ID
	s, err := d.c.Session.Revert(ctx, d.id, opencode.SessionRevertParams{MessageID: opencode.F(first)})
	if err != nil {
		return err
	}
	if err := errors.Join(want("the revert", s.Revert.MessageID, first), d.file(ctx, "")); err != nil {
		return err
	}
	if s, err = d.c.Session.Unrevert(ctx, d.id, opencode.SessionUnrevertParams{}); err != nil {
		return err
	}
	return errors.Join(want("the revert", s.Revert.MessageID, ""), d.file(ctx, "two"))
}

// fork is newer than the SDK, too.
func (d *driver) fork(ctx context.Context) error {
	var fork opencode.Session
	if err := d.c.Post(ctx, "session/"+d.id+"/fork", map[string]any{}, &fork); err != nil {
		return err
	}
	all, err := d.messages(ctx, d.id)
	if err != nil {
		return err
	}
	copied, err := d.messages(ctx, fork.ID)
	if err := errors.Join(err, want("the copied messages", len(copied), len(all))); err != nil {
		return err
	}
	_, err = d.c.Session.Delete(ctx, fork.ID, opencode.SessionDeleteParams{})
	return err
}

func (d *driver) summarize(ctx context.Context) error {
	ok, err := d.c.Session.Summarize(ctx, d.id, opencode.SessionSummarizeParams{ProviderID: opencode.F("script"), ModelID: opencode.F(d.model)})
	if err != nil {
		return err
	}
	<-d.idle
	return want("the summary", *ok, true)
}

func (d *driver) lists(ctx context.Context) error {
	if s, err := d.c.Session.Update(ctx, d.id, opencode.SessionUpdateParams{Title: opencode.F("named")}); err != nil || s.Title != "named" {
		return fmt.Errorf("update: %v", err)
	}
	dir := opencode.F(d.dir) // of what is about a directory, which need not be the server's
	list, err := d.c.Session.List(ctx, opencode.SessionListParams{Directory: dir})
	if err := errors.Join(err, want("the number of sessions", len(*list), 1)); err != nil {
		return err
	}
	for name, call := range map[string]func() error{
		"children": func() error { _, err := d.c.Session.Children(ctx, d.id, opencode.SessionChildrenParams{}); return err },
		"agents":   func() error { _, err := d.c.Agent.List(ctx, opencode.AgentListParams{Directory: dir}); return err },
		"commands": func() error { _, err := d.c.Command.List(ctx, opencode.CommandListParams{Directory: dir}); return err },
		"config":   func() error { _, err := d.c.Config.Get(ctx, opencode.ConfigGetParams{Directory: dir}); return err },
		"providers": func() error {
			_, err := d.c.App.Providers(ctx, opencode.AppProvidersParams{Directory: dir})
			return err
		},
		"project": func() error {
			_, err := d.c.Project.Current(ctx, opencode.ProjectCurrentParams{Directory: dir})
			return err
		},
		"path": func() error { _, err := d.c.Path.Get(ctx, opencode.PathGetParams{Directory: dir}); return err },
		"files": func() error {
			_, err := d.c.File.List(ctx, opencode.FileListParams{Directory: dir, Path: opencode.F("")})
			return err
		},
		"find": func() error {
			_, err := d.c.Find.Text(ctx, opencode.FindTextParams{Directory: dir, Pattern: opencode.F("hello")})
			return err
		},
		"status": func() error { _, err := d.c.File.Status(ctx, opencode.FileStatusParams{Directory: dir}); return err },
		"toast": func() error {
			_, err := d.c.Tui.ShowToast(ctx, opencode.TuiShowToastParams{Message: opencode.F("m"), Variant: opencode.F(opencode.TuiShowToastParamsVariantInfo)})
			return err
		},
	} {
		if err := call(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (d *driver) remove(ctx context.Context) error {
	if _, err := d.c.Session.Delete(ctx, d.id, opencode.SessionDeleteParams{}); err != nil {
		return err
	}
	_, err := d.c.Session.Get(ctx, d.id, opencode.SessionGetParams{})
	if e := (*opencode.Error)(nil); !errors.As(err, &e) || e.StatusCode != 404 {
		return fmt.Errorf("the deleted session: %v", err)
	}
	return nil
}
