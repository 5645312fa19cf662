package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// The client drives a session, over TCP and within the process.
func TestClient(t *testing.T) {
	r := newRig(t)
	model := r.script("turn.txt", "tool bash {\"command\":\"echo hi\",\"description\":\"x\"}\n---\ntext All done.\n")
	for name, o := range map[string]client.Options{
		"tcp": {URL: r.url}, "in process": {URL: "http://localhost", Transport: client.InProcess(r.srv), Source: r.srv},
		"in process, by frames": {URL: "http://localhost", Transport: client.InProcess(r.srv)},
	} {
		t.Run(name, func(t *testing.T) {
			o.Dir = r.dir
			c, err := client.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx := t.Context()
			if v, err := c.Health(ctx); err != nil || v != lathe.Version {
				t.Errorf("health: %q, %v", v, err)
			}
			title := "mine"
			sess, err := c.Create(ctx, api.SessionRequest{Title: &title, HasRules: true, Rules: []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}}})
			if err != nil || sess.Title != title || sess.Directory != r.dir {
				t.Fatalf("create: %+v, %v", sess, err)
			}
			text := drive(t, c, sess, model)
			if text != "All done." {
				t.Errorf("text %q", text)
			}
			if list, err := c.List(ctx, api.SessionFilter{Limit: 5}); err != nil || len(list) == 0 || list[0].ID != sess.ID {
				t.Errorf("list: %v, %v", list, err)
			}
			if all, err := c.History(ctx, sess.ID, 0, 0); err != nil || len(all) != 3 {
				t.Errorf("messages: %d, %v", len(all), err)
			}
			if err := c.Abort(ctx, sess.ID); err != nil {
				t.Error(err)
			}
			if err := c.Delete(ctx, sess.ID); err != nil {
				t.Error(err)
			}
			if _, err := c.Get(ctx, sess.ID); lathe.CodeOf(err) != lathe.CodeNotFound {
				t.Errorf("deleted: %v", err)
			}
			if err := c.Reply(ctx, "per_none", lathe.Reply{Kind: lathe.Once}); lathe.CodeOf(err) != lathe.CodeNotFound {
				t.Errorf("reply to nothing: %v", err)
			}
			if err := c.Answer(ctx, "que_none", nil); lathe.CodeOf(err) != lathe.CodeNotFound {
				t.Errorf("answer to nothing: %v", err)
			}
		})
	}
}

// drive sends a prompt, allows what is asked, and returns the streamed text.
func drive(t *testing.T, c *client.Client, sess lathe.Session, model string) string {
	t.Helper()
	text, sent := "", lathe.MessageID("")
	for u, err := range c.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := u.Event.(type) {
		case nil:
			sent, err = c.Prompt(t.Context(), sess.ID, api.Prompt{Model: lathe.ModelRef{Provider: "script", Model: model}, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}})
		case lathe.PermissionAsked:
			err = c.Reply(t.Context(), ev.Ask.ID, lathe.Reply{Kind: lathe.Once})
		case lathe.PartDelta:
			text += ev.Beyond(len(text)).Delta
		case lathe.SessionStatus:
			if _, idle := ev.Status.(lathe.Idle); idle && ev.SessionID == sess.ID {
				out, err := c.Outcome(t.Context(), sess.ID, sent)
				if err != nil || out.Steps != 2 || out.Last == nil || out.Failure != nil {
					t.Errorf("outcome: %+v, %v", out, err)
				}
				return text
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the events ended")
	return ""
}

// breaking is a transport whose connections a test can cut.
type breaking struct {
	http.Transport
	conns chan net.Conn
}

func newBreaking() *breaking {
	b := &breaking{conns: make(chan net.Conn, 1000)}
	b.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			b.conns <- c
		}
		return c, err
	}
	return b
}

// cut closes every connection there is.
func (b *breaking) cut() {
	for {
		select {
		case c := <-b.conns:
			_ = c.Close()
		default:
			return
		}
	}
}

// A client whose stream breaks again and again still gets every event once.
func TestClientResumes(t *testing.T) {
	r := newRig(t)
	tr := newBreaking()
	defer tr.CloseIdleConnections()
	c, err := client.New(client.Options{URL: r.url, Transport: tr, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{r: r}
	var got strings.Builder
	n, opened := 0, 0
	for u, err := range c.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Lost {
			t.Error("events were lost")
		}
		switch ev := u.Event.(type) {
		case nil:
			if u.Open {
				if opened++; opened == 1 {
					p.open("prt_1")
					p.say("a")
				}
			}
		case lathe.PartDelta:
			got.WriteString(ev.Delta)
			if ev.End != got.Len() {
				t.Fatalf("a delta ends at %d, not at %d", ev.End, got.Len())
			}
			if n++; n == 50 {
				p.close()
				continue
			}
			if n%17 == 0 {
				tr.cut()
			}
			p.say(string(rune('a' + n%26)))
		case lathe.SessionStatus:
			if got.String() != p.text || opened != 3 {
				t.Errorf("got %q over %d connections, want %q", got.String(), opened, p.text)
			}
			return
		}
	}
}

func TestClientErrors(t *testing.T) {
	for _, u := range []string{"", "localhost:1", "ftp://x", "http://", "://"} {
		if _, err := client.New(client.Options{URL: u}); err == nil {
			t.Errorf("%q is an address", u)
		}
	}
	c, err := client.New(client.Options{URL: "unix:/no/such/socket"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Health(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("no server: %v", err)
	}
	r := newRig(t, func(o *Options) { o.Password = "x" })
	if c, err = client.New(client.Options{URL: r.url}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Health(t.Context()); lathe.CodeOf(err) != lathe.CodeAuth {
		t.Errorf("no password: %v", err)
	}
	for _, err := range c.Follow(t.Context()) {
		if lathe.CodeOf(err) != lathe.CodeAuth {
			t.Errorf("events without a password: %v", err)
		}
	}
}
