package session_test

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// background is a call of the task tool that is not waited for.
func background(agent, prompt string) use {
	u := task(agent, prompt)
	u.args["background"] = true
	return u
}

// endsWith waits until a session has said something and is idle.
func (p *play) endsWith(id lathe.SessionID, words string) {
	p.t.Helper()
	sub := p.svc.Subscribe(p.t.Context(), bus.Filter{SessionID: id, Match: func(ev lathe.Event) bool {
		st, ok := ev.(lathe.SessionStatus)
		if !ok {
			return false
		}
		_, idle := st.Status.(lathe.Idle)
		return idle
	}})
	defer sub.Close()
	for !p.idleAfter(id, words) {
		if _, err := sub.Next(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *play) idleAfter(id lathe.SessionID, words string) bool {
	if _, idle := p.svc.Status(id).(lathe.Idle); !idle {
		return false
	}
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if t, ok := part.Body.(*lathe.Text); ok && t.Text == words {
				return true
			}
		}
	}
	return false
}

// reports returns the words of a session that tell of helpers.
func (p *play) reports(id lathe.SessionID) (out []string) {
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if t, ok := part.Body.(*lathe.Text); ok && t.Synthetic && strings.Contains(t.Text, "<task_result>") {
				_, text, _ := strings.Cut(t.Text, "<task_result>\n")
				text, _, _ = strings.Cut(text, "\n</task_result>")
				out = append(out, text)
			}
		}
	}
	return out
}

func TestBackgroundTaskStartsATurnWhenItsCallerIsIdle(t *testing.T) {
	idle := make(chan struct{})
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); {
		case text == "go":
			return say{calls: []use{background("explore", "look")}}
		case text == "look":
			<-idle
			return say{text: "seen"}
		case strings.Contains(text, "<task_result>"):
			return say{text: "it was seen"}
		}
		return say{text: "meanwhile"}
	}).open()
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "go"); lastWords(out) != "meanwhile" {
		t.Fatalf("outcome %+v", out)
	}
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], `state="running"`) {
		t.Errorf("calls %q", tools)
	}
	close(idle)
	p.endsWith(id, "it was seen")
	if diff := cmp.Diff([]string{"seen"}, p.reports(id)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if more := p.prompt(id, session.Prompt{}, "next"); lastWords(more) != "meanwhile" || len(p.reports(id)) != 1 {
		t.Errorf("told again: %q", p.reports(id))
	}
}

func TestBackgroundTaskReportsAtTheNextStep(t *testing.T) {
	told := make(chan struct{})
	var once sync.Once
	p := newPlay(t, nil, func(req *llm.Request) say {
		text := last(req)
		switch {
		case text == "go":
			return say{calls: []use{background("explore", "look")}}
		case text == "look":
			return say{text: "seen"}
		case strings.Contains(text, "<task_result>"):
			return say{text: "it was seen"}
		}
		<-told // the step goes on until the report has been stored
		return say{calls: []use{{"glob", args{"pattern": "*.go"}}}}
	}).open()
	id := p.session()
	sub := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id, Match: func(ev lathe.Event) bool {
		u, ok := ev.(lathe.PartUpdated)
		if !ok {
			return false
		}
		text, ok := u.Part.Body.(*lathe.Text)
		return ok && strings.Contains(text.Text, "<task_result>")
	}})
	defer sub.Close()
	go func() { // ends with the report
		if _, err := sub.Next(t.Context()); err == nil {
			once.Do(func() { close(told) })
		}
	}()
	out := p.prompt(id, session.Prompt{}, "go")
	if lastWords(out) != "it was seen" {
		t.Errorf("outcome %+v", out)
	}
}

// sleeping returns a session of which a subagent works in the background.
func sleeping(t *testing.T) (*play, lathe.SessionID) {
	t.Helper()
	working := make(chan struct{})
	p := newPlay(t, nil, func(req *llm.Request) say {
		switch text := last(req); {
		case text == "go":
			return say{calls: []use{background("general", "sleep")}}
		case text == "sleep":
			close(working)
			return say{calls: []use{{"bash", args{"command": "sleep 600", "description": "sleeps"}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	<-working
	return p, id
}

func TestAbortStopsBackgroundTasks(t *testing.T) {
	p, id := sleeping(t)
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	children, _ := p.svc.Children(t.Context(), id)
	if _, idle := p.svc.Status(children[0].ID).(lathe.Idle); !idle {
		t.Error("the subagent still works")
	}
	if got := p.reports(id); len(got) != 0 {
		t.Errorf("an abort began a turn: %q", got)
	}
	p.prompt(id, session.Prompt{}, "next")
	if got := p.reports(id); len(got) != 1 || !strings.Contains(got[0], "task_id") {
		t.Errorf("the next prompt did not tell that it was stopped: %q", got)
	}
	p.prompt(id, session.Prompt{}, "and next")
	if got := p.reports(id); len(got) != 1 {
		t.Errorf("told twice: %q", got)
	}
}

func TestDeleteStopsBackgroundTasks(t *testing.T) {
	p, id := sleeping(t)
	if err := p.svc.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if n := p.svc.Turns.Running(); n != 0 {
		t.Errorf("%d turns still run", n)
	}
}

// TestRestartTellsOfInterruptedTasks holds that a helper which ended with its process is
// told of with the next prompt, once.
func TestRestartTellsOfInterruptedTasks(t *testing.T) {
	p, id := sleeping(t)
	vanished := p.svc
	t.Cleanup(func() { // it works on until then
		if err := vanished.Close(); err != nil {
			t.Error(err)
		}
	})
	p.serve()
	for range 2 {
		p.prompt(id, session.Prompt{}, "next")
		if got := p.reports(id); len(got) != 1 || !strings.Contains(got[0], "task_id") {
			t.Errorf("after a restart the model was told %q", got)
		}
	}
}

// TestHelpersAtOnce holds that no more subagents work at once than the configuration
// says, that the others wait, and that all are done in the end.
func TestHelpersAtOnce(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	two := make(chan struct{})
	p := newPlay(t, map[string]string{"repo/opencode.json": `{"subagent_limit": 2}`}, func(req *llm.Request) say {
		text := last(req)
		switch {
		case text == "go":
			return say{calls: []use{background("general", "w1"), background("general", "w2"), background("general", "w3"), task("general", "w4"), task("general", "w5")}}
		case len(text) == 2 && text[0] == 'w':
			mu.Lock()
			now++
			most = max(most, now)
			if now == 2 && most == 2 {
				select {
				case <-two:
				default:
					close(two)
				}
			}
			mu.Unlock()
			<-two // two have to work at once
			mu.Lock()
			now--
			mu.Unlock()
			return say{text: text + " done"}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	if err := p.svc.Helpers.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if most != 2 {
		t.Errorf("%d worked at once, want 2", most)
	}
	if got := p.reports(id); len(got) != 3 {
		t.Errorf("reports %q", got)
	}
}

// TestBackgroundSharesTheBudget holds that what a helper uses counts against the limits
// of the run that started it.
func TestBackgroundSharesTheBudget(t *testing.T) {
	var n atomic.Int64
	p := newPlay(t, nil, func(req *llm.Request) say {
		if asked, _, _ := strings.Cut(last(req), "\n"); asked == "go" {
			return say{calls: []use{background("general", "loop")}}
		}
		if last(req) == "loop" || strings.Contains(last(req), "No files found") {
			return say{calls: []use{{"glob", args{"pattern": strconv.FormatInt(n.Add(1), 10)}}}}
		}
		return say{text: "ok"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{Limits: turn.Limits{Steps: 6}}, "go")
	if err := p.svc.Helpers.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := p.reports(id); len(got) != 1 || !strings.Contains(got[0], "the limit of 6 steps was reached") {
		t.Errorf("reports %q", got)
	}
}
