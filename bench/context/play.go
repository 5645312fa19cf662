package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/tokens"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Options say what is played.
type Options struct {
	Steps   int
	Window  int
	Summary string // the model's answer to every request for one
}

// Report is what became of the facts.
type Report struct {
	Steps, Compactions, Prunes int
	Ledger, Request            int // tokens
	Resurfaced                 int
	Classes                    map[string]*Tally
	Lost                       []string
}

// Tally counts the facts of a class.
type Tally struct{ Planted, Present, Recalled int }

func (t *Tally) lost() int { return t.Planted - t.Present - t.Recalled }

var classes = []string{"recall", "artifact", "continuation", "decision"}

const stepsPerTurn = 20

// fact is something planted: text that must be found again.
type fact struct{ class, text string }

// model plays the session: each request is answered by the next step.
type model struct {
	dir    string
	opts   Options
	step   int
	inTurn int
	facts  []fact
	todos  []map[string]any
	done   []string // tasks that were finished at the newest compaction

	asked func() // called when a summary is asked for; nil: nothing
	store *store.Store
}

// Play runs a session and reports on its facts.
func Play(ctx context.Context, o Options) (*Report, error) {
	base, err := os.MkdirTemp("", "lathe-context-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(base)
	m := &model{dir: filepath.Join(base, "repo"), opts: o}
	svc, closeAll, err := m.open(ctx, base)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	sess, err := svc.Create(ctx, session.Create{Directory: m.dir, Title: "rig"})
	if err != nil {
		return nil, err
	}
	for turn := 0; m.step < o.Steps; turn++ {
		if err := m.turn(ctx, svc, sess.ID, turn); err != nil {
			return nil, err
		}
	}
	if o.Summary != "" { // without one, nothing is compacted by hand
		if err := svc.Summarize(ctx, sess.ID, lathe.ModelRef{}, false); err != nil {
			return nil, err
		}
	}
	return m.report(ctx, svc, sess.ID)
}

// open makes a repository and a service on it.
func (m *model) open(ctx context.Context, base string) (*session.Service, func(), error) {
	conf := fmt.Sprintf(`{"permission":"allow","snapshot":false,"provider":{"script":{"models":{"rig":{"limit":{"context":%d,"output":4000}}}}}}`, m.opts.Window)
	files := map[string]string{"repo/opencode.json": conf}
	for i := range 40 {
		files[fmt.Sprintf("repo/src/part%02d.go", i)] = strings.Repeat(fmt.Sprintf("func f%d() int { return %d } // a line of source code\n", i, i), 60)
	}
	for name, text := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, nil, err
		}
	}
	env := map[string]string{"HOME": base, "LATHE_HOME": filepath.Join(base, "home"), "PATH": os.Getenv("PATH")}
	e, err := enginetest.Open(ctx, enginetest.Options{Env: env, Instance: instance.Options{
		Builtin: func(ref lathe.ModelRef) (llm.Model, bool) { return m, ref.Provider == "script" },
		Trusted: func(workspace.Root) bool { return true },
	}})
	if err != nil {
		return nil, nil, err
	}
	m.store = e.Store
	return e.Service, func() { _ = e.Close() }, nil
}

// turn sends a prompt with planted words and waits until it is answered.
func (m *model) turn(ctx context.Context, svc *session.Service, id lathe.SessionID, n int) error {
	rule := fmt.Sprintf("Never use port %d for anything.", 4100+n)
	m.facts = append(m.facts, fact{"recall", rule})
	text := fmt.Sprintf("Part %d of the work: go through the next files and mend them. %s The ticket is OPS-%d.", n, rule, 7000+n)
	m.facts = append(m.facts, fact{"recall", fmt.Sprintf("OPS-%d", 7000+n)})
	m.inTurn = 0
	_, run, err := svc.Prompt(ctx, id, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "rig"}, Parts: []lathe.PartBody{&lathe.Text{Text: text}},
	})
	if err != nil {
		return err
	}
	out, err := run.Wait(ctx)
	if err == nil && out.Failure != nil {
		err = out.Failure
	}
	return err
}

// Stream answers a request.
func (m *model) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, name, args := m.next(req)
		events := []llm.Event{llm.Start{}}
		if text != "" {
			events = append(events, llm.TextStart{ID: "t"}, llm.TextDelta{ID: "t", Text: text}, llm.TextEnd{ID: "t"})
		}
		reason := llm.FinishStop
		if name != "" {
			raw, err := json.Marshal(args)
			if err != nil {
				yield(nil, err)
				return
			}
			id := fmt.Sprintf("call_%d", m.step)
			events = append(events, llm.ToolStart{ID: "c", CallID: id, Name: name}, llm.ToolEnd{ID: "c", CallID: id, Name: name, Input: string(raw)})
			reason = llm.FinishToolCalls
		}
		for _, ev := range append(events, llm.Finish{Reason: reason}) { // no usage: the estimate has to do
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// next returns what the model says and the call it makes.
func (m *model) next(req *llm.Request) (text, name string, args map[string]any) {
	switch {
	case strings.Contains(lastText(req), "is about to leave the window"):
		if m.asked != nil {
			m.asked()
		}
		m.done = nil
		for _, t := range m.todos {
			if t["status"] == "completed" {
				m.done = append(m.done, t["content"].(string))
			}
		}
		return m.opts.Summary, "", nil
	case m.inTurn >= stepsPerTurn || m.step >= m.opts.Steps:
		return "This part is done.", "", nil
	}
	m.inTurn++
	m.step++
	n := m.step
	path := filepath.Join(m.dir, "src", fmt.Sprintf("part%02d.go", n%40))
	switch n % 6 {
	case 0:
		decision := fmt.Sprintf("I decided to use approach A-%d because the other one does not scale.", n)
		m.facts = append(m.facts, fact{"decision", fmt.Sprintf("approach A-%d", n)})
		return decision, "read", map[string]any{"filePath": path}
	case 1:
		created := filepath.Join(m.dir, "gen", fmt.Sprintf("made%03d.go", n))
		m.facts = append(m.facts, fact{"artifact", fmt.Sprintf("gen/made%03d.go", n)})
		return "", "write", map[string]any{"filePath": created, "content": strings.Repeat("package gen\n", 20)}
	case 2:
		m.facts = append(m.facts, fact{"artifact", fmt.Sprintf("check-%d", n)})
		return "", "bash", map[string]any{"command": fmt.Sprintf("echo check-%d; echo 'assertion E-%d failed' >&2; exit 3", n, n), "description": "Run a check"}
	case 3:
		m.todos = append(m.todos, map[string]any{"content": fmt.Sprintf("mend item T-%d", n), "status": "pending", "priority": "high"})
		if len(m.todos) > 3 {
			m.todos[len(m.todos)-4]["status"] = "completed"
		}
		return "", "todowrite", map[string]any{"todos": m.todos}
	}
	return "", "read", map[string]any{"filePath": path}
}

func lastText(req *llm.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	return words(req.Messages[len(req.Messages)-1:])
}

// words returns all that a model reads in messages.
func words(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, c := range m.Content {
			switch c := c.(type) {
			case llm.Text:
				b.WriteString(c.Text + "\n")
			case llm.ToolUse:
				b.Write(c.Input)
			case llm.ToolResult:
				b.WriteString(c.Output + "\n")
			}
		}
	}
	return b.String()
}

// report looks for the facts in the next request, then by recall.
func (m *model) report(ctx context.Context, svc *session.Service, id lathe.SessionID) (*Report, error) {
	for _, t := range m.todos {
		if t["status"] == "pending" {
			m.facts = append(m.facts, fact{"continuation", t["content"].(string)})
		}
	}
	live, err := svc.Windows.Live(ctx, id)
	if err != nil {
		return nil, err
	}
	stats, err := svc.Windows.Stats(ctx, id)
	if err != nil {
		return nil, err
	}
	text := words(prompt.Messages(live))
	r := &Report{Steps: m.step, Compactions: stats.Compactions, Prunes: stats.Prunes, Request: tokens.Count(text), Classes: map[string]*Tally{}}
	for _, c := range classes {
		r.Classes[c] = &Tally{}
	}
	ledger := between(text, "<ledger>", "</ledger>")
	r.Ledger = tokens.Count(ledger)
	open := between(ledger, "## Open tasks", "##")
	for _, task := range m.done {
		if strings.Contains(open, task+"\n") {
			r.Resurfaced++
		}
	}
	inst, err := svc.Instance(ctx, m.dir)
	if err != nil {
		return nil, err
	}
	recall, ok := inst.Tools.Lookup("recall")
	if !ok {
		return nil, fmt.Errorf("there is no recall tool")
	}
	for _, f := range m.facts {
		t := r.Classes[f.class]
		t.Planted++
		if strings.Contains(text, f.text) {
			t.Present++
		} else if found, err := canRecall(ctx, recall, id, f.text); err != nil {
			return nil, err
		} else if found {
			t.Recalled++
		} else {
			r.Lost = append(r.Lost, f.text)
		}
	}
	return r, nil
}

func between(s, from, to string) string {
	_, s, ok := strings.Cut(s, from)
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, to)
	return s
}

func canRecall(ctx context.Context, t tool.Tool, id lathe.SessionID, query string) (bool, error) {
	input, err := json.Marshal(map[string]any{"mode": "search", "query": query})
	if err != nil {
		return false, err
	}
	res, err := t.Run(ctx, &tool.Call{SessionID: id, Input: input})
	return !res.Failed && strings.Contains(res.Output, query), err
}
