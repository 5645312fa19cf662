package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lathe"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/paint/emulator"
	"lathe/internal/tui/prefs"
)

// TestMain has all times shown in one zone, wherever the tests run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	goleak.VerifyTestMain(m)
}

var xterm = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}

// session runs a screen on an emulator until it ends.
type session struct {
	in   *os.File
	app  *App
	out  *lockedEmulator
	done chan error
}

type lockedEmulator struct {
	mu sync.Mutex
	*emulator.Terminal
}

func (l *lockedEmulator) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Terminal.Write(p)
}

func (l *lockedEmulator) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.Lines(), "\n")
}

func (l *lockedEmulator) waitFor(t testing.TB, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(l.text(), want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the screen never shows %q:\n%s", want, l.text())
		}
	}
}

func startSession(t testing.TB, f *fakeEngine, w, h int) *session {
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{in: in, out: &lockedEmulator{Terminal: emulator.New(w, h)}, done: make(chan error, 1)}
	s.app = New(context.Background(), Options{Engine: f, Start: Start{Session: "ses_1"}})
	go func() {
		s.done <- Run(context.Background(), s.app, Terminal{In: r, Out: s.out, Env: xterm, Width: w, Height: h})
		r.Close()
	}()
	return s
}

func (s *session) leave(t testing.TB) {
	t.Helper()
	fmt.Fprint(s.in, "\x18q")
	defer s.in.Close()
	if err := <-s.done; err != nil {
		t.Errorf("run: %v", err)
	}
}

// stream sends an answer of n deltas as fast as they are taken.
func stream(f *fakeEngine, n int, text string) {
	m := reply(2)
	m.Info.(*lathe.Assistant).Completed = time.Time{}
	open := part(m, 1, &lathe.Text{})
	for _, e := range []lathe.Event{lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}, lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: open}} {
		f.events <- lathe.Envelope{Event: e}
	}
	for range n {
		f.events <- lathe.Envelope{Event: lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: open.ID, Delta: text}}
	}
	f.events <- lathe.Envelope{Event: lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: open.ID, Delta: "\n\nTHE END"}}
	f.events <- lathe.Envelope{Event: lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}}}
}

func oneQuestion() *fakeEngine {
	f := newFake()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Agent: "build"}
	f.history["ses_1"] = []lathe.Message{question(1, "go")}
	return f
}

// TestNoKeystrokeIsLost types while an answer streams as fast as it can.
func TestNoKeystrokeIsLost(t *testing.T) {
	f := oneQuestion()
	s := startSession(t, f, 80, 24)
	s.out.waitFor(t, "A title")
	var wg sync.WaitGroup
	wg.Go(func() { stream(f, 20_000, "words and **more** words, ") })
	typed := ""
	for i := range 100 {
		word := fmt.Sprintf("%02d漢", i)
		typed += word
		fmt.Fprint(s.in, word)
	}
	wg.Wait()
	s.out.waitFor(t, "THE END")
	s.out.waitFor(t, "99漢")
	fmt.Fprint(s.in, "\r")
	s.out.waitFor(t, "ask anything")
	s.leave(t)
	want := []string{fmt.Sprintf("prompt ses_1 %q  ", typed)}
	if diff := cmp.Diff(want, f.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestRunGivesTheTerminalBack(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		f := oneQuestion()
		s := startSession(t, f, size[0], size[1])
		s.out.waitFor(t, "▌ go")
		s.leave(t)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := fmt.Errorf("enough")
	cancel(cause)
	r, w := io.Pipe()
	defer w.Close()
	w.Close()
	err := Run(ctx, New(ctx, Options{Engine: newFake()}), Terminal{In: r, Out: io.Discard, Width: 80, Height: 24})
	if !errors.Is(err, cause) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("run: %v", err)
	}
}

// TestPumpIsCalm holds that events reach the screen at most 30 times a second,
// none is lost, and nothing is left running.
func TestPumpIsCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var mu sync.Mutex
		var text strings.Builder
		batches := 0
		p := &pump{send: func(m tea.Msg) {
			mu.Lock()
			defer mu.Unlock()
			batches++
			for _, e := range m.(Events).List {
				text.WriteString(e.Event.(lathe.PartDelta).Delta)
			}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { p.run(ctx, f) })
		for range 1000 {
			f.events <- lathe.Envelope{Event: lathe.PartDelta{PartID: "prt_1", Delta: "x"}}
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Second)
		cancel()
		wg.Wait()
		if text.Len() != 1000 || batches > 62 || batches < 55 {
			t.Errorf("%d characters in %d batches over two seconds", text.Len(), batches)
		}
	})
}

// BenchmarkBytesPerToken streams an answer of 2,000 tokens at 1,000 tokens a
// second (about 33 a frame) and tells what reaches the terminal for each.
func BenchmarkBytesPerToken(b *testing.B) {
	for name, o := range map[string]Options{
		"80": {}, "160": {Prefs: prefs.Prefs{NoSidebar: true}}, "160 sidebar": {}, "160 scroll bar": {Prefs: prefs.Prefs{NoSidebar: true, Scrollbar: true}},
	} {
		width, height := 160, 48
		if name == "80" {
			width, height = 80, 24
		}
		b.Run(name, func(b *testing.B) { benchBytes(b, o, width, height) })
	}
}

func benchBytes(b *testing.B, o Options, width, height int) {
	for b.Loop() {
		d := withHistory(b, o, question(1, "go"))
		d.send(tea.WindowSizeMsg{Width: width, Height: height})
		d.event(lathe.TodoUpdated{SessionID: "ses_1", Todos: []lathe.Todo{{Content: "Read the code", Status: "completed"}, {Content: "Greet in two languages", Status: "in_progress"}, {Content: "Run it"}}},
			lathe.SessionDiff{SessionID: "ses_1", Diff: []lathe.FileDiff{{File: "internal/greet/greet.go", Additions: 12, Deletions: 3}, {File: "README.md", Additions: 4}}})
		e := emulator.New(width, height)
		p := paint.NewScreen(e, xterm, width, height)
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		m := reply(2)
		open := part(m, 1, &lathe.Text{})
		d.event(lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: open})
		if err := p.Paint(d.app.View()); err != nil {
			b.Fatal(err)
		}
		e.Bytes = 0
		const tokens, each = 2000, 33
		for i := 0; i < tokens; i += each {
			text := words(i, each)
			if i%(each*6) == 0 {
				text += "\n\n"
			}
			d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: open.ID, Delta: text})
			if err := p.Paint(d.app.View()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(e.Bytes)/tokens, "bytes/token")
		b.ReportMetric(float64(e.Bytes)/(tokens*5), "bytes/byte")
	}
}

// words returns n words that differ from line to line, as those of an answer do.
func words(at, n int) string {
	list := strings.Fields("the parser reads a token and keeps where it began so that errors can tell line and column of what was wrong")
	var b strings.Builder
	r := rand.New(rand.NewPCG(uint64(at), 1))
	for range n {
		b.WriteString(list[r.IntN(len(list))] + " ")
	}
	return b.String()
}

// BenchmarkOpen opens a session of 10,000 messages and draws its end.
func BenchmarkOpen(b *testing.B) {
	f := oneQuestion()
	for i := 2; i <= 10_000; i++ {
		f.history["ses_1"] = append(f.history["ses_1"], reply(i, &lathe.Text{Text: "Some *words* and `code`.\n\n- a\n- b"}))
	}
	b.ReportAllocs()
	for b.Loop() {
		d := drive(b, Options{Engine: f, Start: Start{Session: "ses_1"}})
		d.app.View()
	}
}

// BenchmarkScrollToTop reads and draws all of it.
func BenchmarkScrollToTop(b *testing.B) {
	f := oneQuestion()
	for i := 2; i <= 10_000; i++ {
		f.history["ses_1"] = append(f.history["ses_1"], reply(i, &lathe.Text{Text: "Some *words* and `code`.\n\n- a\n- b"}))
	}
	for b.Loop() {
		d := drive(b, Options{Engine: f, Start: Start{Session: "ses_1"}})
		d.app.View()
		for len(d.app.conv.Messages()) < 10_000 {
			d.press("home")
			d.app.View()
		}
	}
}

// BenchmarkFrame draws a frame of a long answer to which a few words were added.
func BenchmarkFrame(b *testing.B) {
	d := withHistory(b, Options{}, question(1, "go"))
	d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	p := paint.NewScreen(io.Discard, xterm, 200, 60)
	m := reply(2)
	open := part(m, 1, &lathe.Text{Text: strings.Repeat("A paragraph of *some* words.\n\n- item\n\n", 200)})
	d.event(lathe.MessageUpdated{Message: m}, lathe.PartUpdated{Part: open})
	b.ReportAllocs()
	for b.Loop() {
		d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: m.ID, PartID: open.ID, Delta: "word "})
		if err := p.Paint(d.app.View()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpinner draws a frame in which only the spinner moved.
func BenchmarkSpinner(b *testing.B) {
	d := withHistory(b, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: strings.Repeat("words ", 2000)}))
	p := paint.NewScreen(io.Discard, xterm, 80, 24)
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	b.ReportAllocs()
	for b.Loop() {
		d.now = d.now.Add(250 * time.Millisecond)
		if err := p.Paint(d.app.View()); err != nil {
			b.Fatal(err)
		}
	}
}
