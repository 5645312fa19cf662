package linear

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a small engine in memory.
type fake struct {
	mu     sync.Mutex
	calls  []string
	events chan lathe.Envelope
	asks   []lathe.Ask
}

func (e *fake) note(format string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
	return nil
}

func (e *fake) List(_ context.Context, words string) ([]lathe.Session, error) {
	return []lathe.Session{{ID: "ses_1", Title: "First " + words}, {ID: "ses_2", Title: "Second"}}, nil
}
func (e *fake) Get(_ context.Context, id lathe.SessionID) (lathe.Session, error) {
	return lathe.Session{ID: id, Title: "Title of " + string(id)}, nil
}
func (e *fake) Create(context.Context) (lathe.Session, error) {
	return lathe.Session{ID: "ses_new"}, e.note("create")
}
func (e *fake) Rename(context.Context, lathe.SessionID, string) error { return nil }
func (e *fake) Delete(context.Context, lathe.SessionID) error         { return nil }
func (e *fake) Children(context.Context, lathe.SessionID) ([]lathe.Session, error) {
	return nil, nil
}
func (e *fake) Todos(context.Context, lathe.SessionID) ([]lathe.Todo, error) { return nil, nil }
func (e *fake) History(context.Context, lathe.SessionID, int64, int) ([]lathe.Message, error) {
	return []lathe.Message{
		{ID: "msg_1", Info: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "the question"}}}},
		{ID: "msg_2", Info: &lathe.Assistant{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: "the answer"}}}},
	}, nil
}
func (e *fake) Prompt(_ context.Context, id lathe.SessionID, p engine.Prompt) error {
	return e.note("prompt %s %q %s %s", id, p.Text, p.Agent, p.Model)
}
func (e *fake) Command(_ context.Context, id lathe.SessionID, name, args string, _ engine.Prompt) error {
	return e.note("command %s %s %q", id, name, args)
}
func (e *fake) Shell(_ context.Context, id lathe.SessionID, command string, _ engine.Prompt) error {
	return e.note("shell %s %q", id, command)
}
func (e *fake) Abort(_ context.Context, id lathe.SessionID) error { return e.note("abort %s", id) }
func (e *fake) Status(context.Context, lathe.SessionID) lathe.Status {
	return lathe.Idle{}
}
func (e *fake) Can() engine.Capabilities { return engine.Capabilities{} }
func (e *fake) Follow(ctx context.Context) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		for {
			select {
			case ev := <-e.events:
				if !yield(engine.Update{Envelope: ev}, nil) {
					return
				}
			case <-ctx.Done():
				yield(engine.Update{}, ctx.Err())
				return
			}
		}
	}
}
func (e *fake) Waiting(context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error) {
	return e.asks, nil, nil
}
func (e *fake) Reply(_ context.Context, a lathe.Ask, r lathe.Reply) error {
	patterns := ""
	if len(r.Patterns) > 0 {
		patterns = fmt.Sprintf(" %v", r.Patterns)
	}
	return e.note("reply %s %s %q project=%v%s", a.ID, r.Kind, r.Message, r.Project, patterns)
}
func (e *fake) Answer(_ context.Context, id lathe.AskID, answers [][]string) error {
	return e.note("answer %s %q", id, answers)
}
func (e *fake) Dismiss(_ context.Context, id lathe.AskID) error { return e.note("dismiss %s", id) }
func (e *fake) Models(context.Context) ([]api.Model, error) {
	return []api.Model{{ProviderID: "acme", ModelID: "big", Name: "Big"}, {ProviderID: "acme", ModelID: "small", Name: "Small"}}, nil
}
func (e *fake) Agents(context.Context) ([]api.Agent, error) {
	return []api.Agent{{Name: "build"}, {Name: "plan"}}, nil
}
func (e *fake) Commands(context.Context) ([]api.Command, error) {
	return []api.Command{{Name: "review", Description: "review changes"}}, nil
}
func (e *fake) Files(context.Context, string, int) ([]string, error) { return nil, nil }

// screen collects what is written.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// person talks with a running conversation.
type person struct {
	t    *testing.T
	e    *fake
	out  *screen
	in   *os.File
	done chan error
	seen int
}

func meet(t *testing.T, e *fake, o Options) *person {
	if e.events == nil {
		e.events = make(chan lathe.Envelope)
	}
	o.Engine = e
	return met(t, e, o)
}

func meetFar(t *testing.T, f *far, o Options) *person {
	o.Engine = f
	return met(t, f.fake, o)
}

func met(t *testing.T, e *fake, o Options) *person {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, e: e, out: &screen{}, in: w, done: make(chan error, 1)}
	o.In, o.Out = r, p.out
	go func() {
		_, err := Run(context.Background(), o)
		r.Close()
		p.done <- err
	}()
	p.hears("/help lists the commands")
	return p
}

// hears waits until a text is written after what was heard before.
func (p *person) hears(want ...string) {
	p.t.Helper()
	for _, w := range want {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			text := p.out.text()
			if i := strings.Index(text[p.seen:], w); i >= 0 {
				p.seen += i + len(w)
				break
			}
			if time.Now().After(deadline) {
				p.t.Fatalf("never hears %q after %q in:\n%s", w, text[:p.seen], text)
			}
		}
	}
}

func (p *person) says(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(p.in, l)
	}
}

func (p *person) happens(list ...lathe.Event) {
	for _, e := range list {
		p.e.events <- lathe.Envelope{Event: e}
	}
}

// leaves ends the conversation and checks the calls, and that everything written
// is plain.
func (p *person) leaves(calls ...string) {
	p.t.Helper()
	p.says("/quit")
	if err := <-p.done; err != nil {
		p.t.Errorf("run: %v", err)
	}
	p.in.Close()
	if diff := cmp.Diff(calls, p.e.calls); diff != "" {
		p.t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, r := range p.out.text() {
		if r != '\n' && unicode.IsControl(r) || r >= 0x2500 && r < 0x2600 || r >= 0x2800 && r < 0x2900 {
			p.t.Errorf("it says %q:\n%s", r, p.out.text())
			break
		}
	}
}

func TestTurn(t *testing.T) {
	p := meet(t, &fake{}, Options{Prompt: "go on", Notices: []string{"mind\nthis"}})
	p.hears("Note: mind this")
	p.says("two\\", "lines")
	m := lathe.Message{ID: "msg_5", SessionID: "ses_new", Info: &lathe.Assistant{}}
	text := lathe.Part{ID: "prt_1", MessageID: "msg_5", SessionID: "ses_new", Body: &lathe.Text{}}
	call := func(st lathe.ToolState) lathe.PartUpdated {
		return lathe.PartUpdated{Part: lathe.Part{ID: "prt_2", MessageID: "msg_5", SessionID: "ses_new", Body: &lathe.ToolCall{Tool: "bash", State: st}}}
	}
	input := []byte(`{"command":"go test"}`)
	p.happens(lathe.SessionStatus{SessionID: "ses_new", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: text},
		lathe.PartDelta{SessionID: "ses_new", PartID: "prt_1", Delta: "# Head\n\nSome **bold** \x1b[31mwo"})
	p.hears("Working.", "Heading: Head")
	p.happens(lathe.PartDelta{SessionID: "ses_new", PartID: "prt_1", Delta: "rds.\n\nrest"})
	p.hears("Some bold words.\n")
	closed := text
	closed.Body = &lathe.Text{Text: "# Head\n\nSome **bold** \x1b[31mwords.\n\nrest", Time: lathe.Span{End: time.Unix(1, 0)}}
	p.happens(lathe.PartUpdated{Part: closed}, call(&lathe.ToolRunning{Input: input}), call(&lathe.ToolRunning{Input: input}),
		call(&lathe.ToolDone{Input: input, Output: "10%\r100%\nok", Metadata: map[string]any{"exit": 1}}),
		lathe.SessionStatus{SessionID: "ses_new", Status: lathe.Idle{}})
	p.hears("rest\n", "Tool: bash $ go test\n", "bash done, exit 1.\n", "Output:\n100%\nok\n", "Done after")
	p.leaves("create", `prompt ses_new "go on"  `, `prompt ses_new "two\nlines"  `)
}

func TestAsks(t *testing.T) {
	ask := lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"rm *"}, Always: []string{"rm *"}, Metadata: map[string]any{"command": "rm -rf x"}}
	second := ask
	second.ID = "per_2"
	p := meet(t, &fake{asks: []lathe.Ask{ask}}, Options{Session: "ses_1"})
	p.hears("Session: Title of ses_1", "You: the question", "lathe: the answer", "Permission needed: bash.", "Command: rm -rf x", "1. allow once", "2. allow from now on: commands that begin with \"rm\"", "4. refuse and tell why", "Type a number")
	p.happens(lathe.PermissionAsked{Ask: second})
	p.says("9")
	p.hears("There is no number 9.")
	p.says("2")
	p.hears("Without being asked again:", "commands that begin with \"rm\"", "Anything else goes back")
	p.says("2")
	p.hears("Nothing is allowed.", "1. allow once")
	p.says("2")
	p.hears("Anything else goes back")
	p.says("project")
	p.hears("Allowed in this project, for good: commands that begin with \"rm\". To take it back: lathe permissions revoke 'bash:rm *'.", "Permission needed")
	p.says("4")
	p.hears("Type why")
	p.says("too risky")
	p.hears("Refused.")
	p.happens(lathe.QuestionAsked{Ask: lathe.QuestionAsk{ID: "que_1", Questions: []lathe.Question{
		{Text: "Which?", Options: []lathe.QuestionOption{{Label: "A", Description: "the first"}, {Label: "B"}}},
		{Text: "Which of these?", Multiple: true, Options: []lathe.QuestionOption{{Label: "C"}, {Label: "D"}}},
		{Text: "Why?", Custom: true},
	}}})
	p.hears("Question 1 of 3: Which?", "1. A, the first", "3. dismiss")
	p.says("nonsense")
	p.hears("not one of the answers", "Question 1 of 3")
	p.says("2")
	p.hears("Question 2 of 3")
	p.says("1, 2")
	p.hears("Question 3 of 3")
	p.says("just so")
	p.hears("Answered.")
	p.leaves(`reply per_1 always "" project=true [rm *]`, `reply per_2 reject "too risky" project=false`, `answer que_1 [["B"] ["C" "D"] ["just so"]]`)
}

func TestCommands(t *testing.T) {
	p := meet(t, &fake{}, Options{})
	p.says("/help")
	p.hears("/new begins", "/review review changes")
	p.says("/models sma")
	p.hears("1. Small, acme/small", "Type a number")
	p.says("1")
	p.hears("Model: acme/small")
	p.says("/agent plan")
	p.hears("Agent: plan")
	p.says("/sessions x")
	p.hears("1. First x", "2. Second")
	p.says("2")
	p.hears("Session: Title of ses_2")
	p.says("/nosuch")
	p.hears("no command /nosuch")
	p.says("/last", "/stop", "/undo", "/status")
	p.hears("the answer", "Nothing runs.", "Nothing can be undone", "agent plan, model acme/small")
	p.says("/review now", "!ls", "hello", "/help")
	p.hears("Commands:")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		p.e.mu.Lock()
		n := len(p.e.calls)
		p.e.mu.Unlock()
		if n == 3 {
			break
		}
	}
	p.e.mu.Lock()
	if len(p.e.calls) == 3 && strings.HasPrefix(p.e.calls[2], "shell") { // it runs beside the prompt
		p.e.calls[1], p.e.calls[2] = p.e.calls[2], p.e.calls[1]
	}
	p.e.mu.Unlock()
	p.leaves(`command ses_2 review "now"`, `shell ses_2 "ls"`, `prompt ses_2 "hello" plan acme/small`)
}

func TestEndOfInput(t *testing.T) {
	p := meet(t, &fake{}, Options{})
	p.in.Close()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	in := "# Top\n**bold** text\n\n```go\nx := \"**\"\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n---\n#nothead"
	want := "Heading: Top\nbold text\n\nCode, go:\nx := \"**\"\nEnd of code.\n| a | b |\n| 1 | 2 |\n#nothead"
	if diff := cmp.Diff(want, Words(in)); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestAnsweredElsewhere(t *testing.T) {
	ask := lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"x"}}
	p := meet(t, &fake{asks: []lathe.Ask{ask}}, Options{})
	p.hears("3. refuse and tell why", "Type a number")
	p.happens(lathe.PermissionReplied{AskID: "per_1", Reply: lathe.Once})
	p.hears("Answered elsewhere.")
	p.says("1")
	p.says("/help")
	p.hears("Commands:")
	p.leaves("create", `prompt ses_new "1"  `)
}

// TestInterrupts holds that ctrl+c stops the turn first, and leaves without one.
func TestInterrupts(t *testing.T) {
	interrupts := make(chan struct{})
	p := meet(t, &fake{}, Options{Session: "ses_1", Interrupts: interrupts})
	p.happens(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	p.hears("Working.")
	interrupts <- struct{}{}
	p.hears("Stopping. Press control c again to leave.")
	p.happens(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}, lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	p.hears("Working.")
	interrupts <- struct{}{}
	p.hears("Stopping.")
	interrupts <- struct{}{}
	if err := <-p.done; err != nil {
		t.Errorf("run: %v", err)
	}
	p.in.Close()
	if diff := cmp.Diff([]string{"abort ses_1", "abort ses_1"}, p.e.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestTypedBeforeAnAsk holds that a line which came before an ask was told is no
// answer to it, and that a long change is told to its end.
func TestTypedBeforeAnAsk(t *testing.T) {
	now := time.Unix(1000, 0)
	var out bytes.Buffer
	e := &fake{}
	talk := newTalk(t.Context(), Options{Engine: e, Out: &out, Now: func() time.Time { return now }})
	early := typed{"1", now.Add(-time.Second)}
	talk.ask(lathe.Ask{ID: "per_1", Permission: "external_directory", Patterns: []string{"/tmp/*"}, Metadata: map[string]any{
		"tool": "write", "filepath": "/tmp/x", "content": strings.Repeat("line\n", 99) + "the last"}})
	if err := talk.take(early); err != nil || len(e.calls) != 0 {
		t.Errorf("%v, calls %v", err, e.calls)
	}
	if err := talk.take(typed{"1", now}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{`reply per_1 once "" project=false`}, e.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, want := range []string{"Tool: write", "Outside the project: /tmp/x", "the last\nEnd of writes.", "does not answer it: 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out.String())
		}
	}
	out.Reset()
	added := strings.Repeat("+line\n", 60) + "+++ the last\n"
	talk.ask(lathe.Ask{ID: "per_2", Permission: "edit", Patterns: []string{"x"}, Metadata: map[string]any{"diff": "--- x\n+++ x\n@@ -0,0 +1,61 @@\n" + added}})
	if !strings.Contains(out.String(), "added line 61: ++ the last") {
		t.Errorf("a change is not told to its end:\n%s", out.String())
	}
}
