package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
	"lathe/internal/store/storetest"
)

// swallow is a proxy that passes requests on whole, and loses the answers to the
// first prompts: the connection breaks once the server has answered.
type swallow struct {
	net.Listener
	to   string
	lose atomic.Int32 // answers that are still to be lost
	lost atomic.Int32
	wg   sync.WaitGroup
}

func newSwallow(t *testing.T, url string, lose int32) *swallow {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &swallow{Listener: l, to: strings.TrimPrefix(url, "http://")}
	p.lose.Store(lose)
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.wg.Wait() })
	return p
}

// pass passes one request on.
func (p *swallow) pass(c net.Conn) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	req.Close = true
	up, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer up.Close()
	if err := req.Write(up); err != nil {
		return
	}
	answer := bufio.NewReader(up)
	if strings.HasSuffix(req.URL.Path, "/prompt") && p.lose.Add(-1) >= 0 {
		_, _ = answer.Peek(1) // it has been taken
		p.lost.Add(1)
		return
	}
	_, _ = io.Copy(c, answer)
}

// A prompt whose answer was lost is sent again, and taken once.
func TestPromptSentAgain(t *testing.T) {
	r := newRig(t)
	model := r.script("again.txt", "text one\n---\ntext two\n---\ntext three\n")
	for name, p := range map[string]api.Prompt{
		"prompt":  {Model: lathe.ModelRef{Provider: "script", Model: model}, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}},
		"command": {Model: lathe.ModelRef{Provider: "script", Model: model}, Command: "init"},
		"shell":   {Model: lathe.ModelRef{Provider: "script", Model: model}, Shell: "echo again"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := newSwallow(t, r.url, 2)
			c, err := client.New(client.Options{URL: "http://" + proxy.Addr().String(), Dir: r.dir})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			sess, err := c.Create(t.Context(), api.SessionRequest{})
			if err != nil {
				t.Fatal(err)
			}
			id, err := c.Prompt(t.Context(), sess.ID, p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Outcome(t.Context(), sess.ID, id); err != nil {
				t.Error(err)
			}
			all, err := c.History(t.Context(), sess.ID, 0, 0)
			if err != nil || len(all) != 2 || all[0].ID != id || proxy.lost.Load() != 2 {
				t.Errorf("%d messages after %d lost answers, %v", len(all), proxy.lost.Load(), err)
			}
		})
	}
}

// The same identifier gets the same answer, also when the turn is long over; that
// of an answer is refused.
func TestSameMessage(t *testing.T) {
	r := newRig(t)
	model := r.script("again.txt", "text one\n---\ntext two\n")
	prompt := func(session, message string) (int, map[string]any) {
		body := `{"messageID":"` + message + `",` + promptBody(model, "go")[1:]
		res := r.do("POST", session+"/message", body)
		var out map[string]any
		if err := json.Unmarshal(res.body, &out); err != nil {
			t.Error(err)
		}
		return res.status, out
	}
	one, other := r.session(), r.session()
	_, first := prompt(one, "msg_mine")
	status, second := prompt(one, "msg_mine")
	if a, b := idOf(first), idOf(second); status != 200 || a == "" || a != b {
		t.Errorf("%d: %q, then %q", status, a, b)
	}
	if status, out := prompt(one, idOf(first)); status != 400 {
		t.Errorf("an answer's identifier: %d %v", status, out)
	}
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() {
			_, out := prompt(other, "msg_together")
			ids[i] = idOf(out)
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("answers to one prompt: %v", ids)
			break
		}
	}
}

func idOf(m map[string]any) string {
	info, _ := m["info"].(map[string]any)
	id, _ := info["id"].(string)
	return id
}

// A person who sends the same words because nothing came back means the same
// prompt, until it was seen; then they mean another one.
func TestSameWords(t *testing.T) {
	r := newRig(t)
	model := r.script("again.txt", "text one\n---\ntext two\n")
	proxy := newSwallow(t, r.url, 1000)
	c, err := client.New(client.Options{URL: "http://" + proxy.Addr().String(), Dir: r.dir, Resend: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sess, err := c.Create(t.Context(), api.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p := api.Prompt{Model: lathe.ModelRef{Provider: "script", Model: model}, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}}
	if _, err := c.Prompt(t.Context(), sess.ID, p); !errors.Is(err, client.ErrUnreachable) {
		t.Fatal(err)
	}
	proxy.lose.Store(0)
	first, err := c.Prompt(t.Context(), sess.ID, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Outcome(t.Context(), sess.ID, first); err != nil {
		t.Error(err)
	}
	proxy.lose.Store(1000)
	if _, err := c.Prompt(t.Context(), sess.ID, p); !errors.Is(err, client.ErrUnreachable) {
		t.Fatal(err)
	}
	proxy.lose.Store(0)
	all, err := c.History(t.Context(), sess.ID, 0, 0) // it was taken, and is seen here
	if err != nil || len(all) < 3 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	third, err := c.Prompt(t.Context(), sess.ID, p)
	if err != nil || third == first || third == all[2].ID {
		t.Errorf("%s after %s, %v", third, first, err)
	}
}

// A prompt that was stored by a process that ended before it was answered is
// answered when it is sent again.
func TestUnansweredPrompt(t *testing.T) {
	r := newRig(t)
	model := r.script("again.txt", "text late\n")
	path := r.session()
	id := lathe.SessionID(strings.TrimPrefix(path, "/session/"))
	m := lathe.Message{ID: "msg_lost", SessionID: id, Created: time.Unix(1, 0), Info: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "script", Model: model}}, Parts: []lathe.Part{
		{ID: "prt_lost", Body: &lathe.Text{Text: "go"}},
	}}
	if err := (storetest.Store{Store: r.srv.opts.Store}).AddMessage(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	body := `{"messageID":"msg_lost",` + promptBody(model, "go")[1:]
	var first string
	for range 2 {
		answer := r.ok("POST", path+"/message", body).(map[string]any)
		info := answer["info"].(map[string]any)
		if first == "" {
			first = idOf(answer)
		}
		if info["role"] != "assistant" || info["parentID"] != "msg_lost" || idOf(answer) != first {
			t.Errorf("answer %v", info)
		}
	}
	if list := r.ok("GET", path+"/message", "").([]any); len(list) != 2 {
		t.Errorf("%d messages", len(list))
	}
}
