package session_test

import (
	"context"
	"encoding/json"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store/storetest"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// say is what a played model answers: words, then calls.
type say struct {
	text  string
	calls []use
	err   error // in place of all that
}

type use struct {
	tool string
	args map[string]any
}

type args = map[string]any

// play is a service in a real repository whose model is a function of the request.
type play struct {
	t    *testing.T
	dir  string // the repository
	home string
	env  map[string]string
	opts instance.Options
	svc  *session.Service
	bus  *bus.Bus

	watch func(ctx context.Context, changed func()) error // of [session.Options]
	serve func()                                          // makes svc, as a new process does

	store storetest.Store
	dial  func(ctx context.Context, network, address string) (net.Conn, error) // of the database
	wrote func()                                                               // called before a write to the store is committed; may be nil
	fault atomic.Pointer[error]                                                // what the disk says to a write; nil: nothing
	once  bool                                                                 // it says so once

	mu       sync.Mutex
	answer   func(req *llm.Request) say
	model    llm.Model // answers in its place, if set
	requests []llm.Request
	calls    int
}

func newPlay(t *testing.T, files map[string]string, answer func(*llm.Request) say) *play {
	t.Helper()
	base, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &play{t: t, dir: filepath.Join(base, "repo"), home: filepath.Join(base, "home"), answer: answer, bus: bus.New(bus.Options{})}
	p.env = map[string]string{"HOME": p.home, "LATHE_HOME": filepath.Join(p.home, "lathe"), "PATH": os.Getenv("PATH"), "LATHE_TRUST": "1"}
	files = merged(map[string]string{"repo/main.go": "package main\n\nfunc main() {}\n", "home/x": ""}, files)
	for name, text := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	enginetest.Repository(p.t, p.dir, p.home)
	return p
}

func merged(a, b map[string]string) map[string]string {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// open starts the service; what the test set before counts.
func (p *play) open() *play {
	p.t.Helper()
	o := p.opts
	o.Trusted = func(workspace.Root) bool { return p.env["LATHE_TRUST"] == "1" }
	o.Builtin = func(ref lathe.ModelRef) (llm.Model, bool) { return p, ref.Provider == "script" }
	e, err := enginetest.Open(p.t.Context(), enginetest.Options{Env: p.env, Instance: o, Session: session.Options{Bus: p.bus, Changed: p.watch}, Fault: p.broken, Dial: p.dial})
	if err != nil {
		p.t.Fatal(err)
	}
	p.store, p.svc = storetest.Store{Store: e.Store}, e.Service
	p.serve = func() {
		e.Restart()
		p.svc = e.Service
	}
	p.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return p
}

// broken is how writes to the store fail at the moment.
func (p *play) broken() error {
	if p.wrote != nil {
		p.wrote()
	}
	if err := p.fault.Load(); err != nil {
		if p.once {
			p.fault.Store(nil)
		}
		return *err
	}
	return nil
}

// Stream answers as the test says; a request for a title, which has no tools, gets one.
func (p *play) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s := say{text: "A title"}
		if len(req.Tools) > 0 || asksSummary(req) {
			p.mu.Lock()
			p.requests = append(p.requests, *req)
			model := p.model
			p.mu.Unlock()
			if model != nil {
				model.Stream(ctx, req)(yield)
				return
			}
			s = p.answer(req)
		}
		if s.err != nil {
			yield(nil, s.err)
			return
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		var events []llm.Event
		if s.text != "" {
			events = append(events, llm.TextStart{ID: "t"}, llm.TextDelta{ID: "t", Text: s.text}, llm.TextEnd{ID: "t"})
		}
		reason := llm.FinishStop
		for _, c := range s.calls {
			raw, err := json.Marshal(c.args)
			if err != nil {
				yield(nil, err)
				return
			}
			p.mu.Lock()
			p.calls++
			id := "call_" + strconv.Itoa(p.calls)
			p.mu.Unlock()
			events = append(events, llm.ToolStart{ID: id, CallID: id, Name: c.tool}, llm.ToolEnd{ID: id, CallID: id, Name: c.tool, Input: string(raw)})
			reason = llm.FinishToolCalls
		}
		events = append(events, llm.Finish{Reason: reason, Usage: llm.Usage{Input: 10, Output: 1, Reported: true}})
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// asked returns the requests so far.
func (p *play) asked() []llm.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

func (p *play) session(rules ...lathe.Rule) lathe.SessionID {
	p.t.Helper()
	s, err := p.svc.Create(p.t.Context(), session.Create{Directory: p.dir, Rules: rules})
	if err != nil {
		p.t.Fatal(err)
	}
	return s.ID
}

var scripted = lathe.ModelRef{Provider: "script", Model: "m"}

func (p *play) prompt(id lathe.SessionID, in session.Prompt, text ...string) turn.Outcome {
	p.t.Helper()
	in.Model = scripted
	for _, t := range text {
		in.Parts = append(in.Parts, &lathe.Text{Text: t})
	}
	_, run, err := p.svc.Prompt(p.t.Context(), id, in)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.wait(run)
}

func (p *play) wait(run *session.Run) turn.Outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	out, err := run.Wait(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *play) messages(id lathe.SessionID) []lathe.Message {
	p.t.Helper()
	list, err := p.svc.Messages(p.t.Context(), id, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// tools returns the calls of a session, described: "task done: …".
func (p *play) tools(id lathe.SessionID) []string {
	p.t.Helper()
	var out []string
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			c, ok := part.Body.(*lathe.ToolCall)
			if !ok {
				continue
			}
			switch st := c.State.(type) {
			case *lathe.ToolDone:
				out = append(out, c.Tool+" done: "+st.Output)
			case *lathe.ToolFailed:
				out = append(out, c.Tool+" failed: "+st.Error)
			default:
				out = append(out, c.Tool+" open")
			}
		}
	}
	return out
}

// last returns what the newest message of a request says, results included.
func last(req *llm.Request) string { return said(req.Messages[len(req.Messages)-1:]) }

func said(messages []llm.Message) string {
	var words []string
	for _, m := range messages {
		for _, c := range m.Content {
			switch c := c.(type) {
			case llm.Text:
				words = append(words, c.Text)
			case llm.ToolResult:
				words = append(words, c.Output)
			}
		}
	}
	return strings.Join(words, "\n")
}

func offered(req llm.Request) []string {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

func about(req llm.Request, name string) string {
	for _, t := range req.Tools {
		if t.Name == name {
			return t.Description
		}
	}
	return ""
}
