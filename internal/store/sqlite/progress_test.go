package sqlite

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/store"
)

// runningCall is a stored call of a tool that shows something.
func runningCall(ses lathe.SessionID, id, title string, meta map[string]any) *lathe.Part {
	return &lathe.Part{ID: lathe.PartID(id), SessionID: ses, MessageID: "msg_1", Body: &lathe.ToolCall{
		CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`), Title: title, Metadata: meta, Start: epoch},
	}}
}

// What a tool showed before its process was killed is in the part that is closed
// for it, which says that it was interrupted.
func TestProgressSurvives(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, assistant(ses, "msg_1", lathe.Assistant{})))
	must(t, s.PutPart(ctx, runningCall(ses, "prt_1", "", nil)))
	var shown *lathe.Part
	for i := range 50 {
		shown = runningCall(ses, "prt_1", fmt.Sprint("t", i/40), map[string]any{"output": strings.Repeat("линия\n", i), "description": "d"})
		must(t, s.SaveProgress(ctx, shown))
	}
	var rev int
	must(t, s.reader.QueryRowContext(ctx, "SELECT rev FROM part").Scan(&rev))
	if rev != 1 {
		t.Errorf("%d commits for what a tool showed", rev-1)
	}
	other := open(t, dir) // a process that looks on, then one that comes after
	m, err := other.Message(ctx, ses, "msg_1")
	must(t, err)
	shown.Seq = 1
	if diff := cmp.Diff([]lathe.Part{*shown}, m.Parts); diff != "" {
		t.Errorf("seen from outside (-want +got):\n%s", diff)
	}
	parts, err := other.Recover(ctx, ses)
	must(t, err)
	want := *shown
	want.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolFailed{
		Input: []byte(`{}`), Error: store.Interrupted, Interrupted: true, Time: lathe.Span{Start: epoch, End: epoch},
		Metadata: map[string]any{"output": strings.Repeat("линия\n", 49), "description": "d"},
	}}
	if diff := cmp.Diff([]lathe.Part{want}, parts); diff != "" {
		t.Errorf("recovered (-want +got):\n%s", diff)
	}
	if left := topFiles(t, dir, "open"); left != nil {
		t.Errorf("left behind: %v", left)
	}
	// The process that thought it was running is too late, also with what no longer fits.
	for i := range 60 {
		late := runningCall(ses, "prt_1", "", map[string]any{"output": strings.Repeat(fmt.Sprintf("%d,", i), 10_000)})
		must(t, s.SaveProgress(ctx, late))
	}
	if m, err = other.Message(ctx, ses, "msg_1"); err != nil || !cmp.Equal(m.Parts, []lathe.Part{want}) {
		t.Errorf("changed after the end: %v, %v", m.Parts, err)
	}
	if _, err = other.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if left := topFiles(t, dir, "open"); left != nil {
		t.Errorf("left behind after a sweep: %v", left)
	}
}

// A tool that shows much has a file that stays small.
func TestProgressIsBounded(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, assistant(ses, "msg_1", lathe.Assistant{})))
	must(t, s.PutPart(ctx, runningCall(ses, "prt_1", "", nil)))
	var shown *lathe.Part
	for i := range 60 {
		shown = runningCall(ses, "prt_1", "", map[string]any{"output": strings.Repeat(fmt.Sprintf("%d,", i), 10_000)})
		must(t, s.SaveProgress(ctx, shown))
		files, err := os.ReadDir(s.openDir())
		must(t, err)
		if len(files) > 1 {
			t.Fatalf("%d files", len(files))
		}
		for _, f := range files {
			if info, err := f.Info(); err != nil || info.Size() > maxProgress+40_000 {
				t.Fatalf("%s has %d bytes: %v", f.Name(), info.Size(), err)
			}
		}
	}
	shown.Seq = 1
	m, err := s.Message(ctx, ses, "msg_1")
	if err != nil || !cmp.Equal(m.Parts, []lathe.Part{*shown}) {
		t.Errorf("%v, %v", m.Parts, err)
	}
	must(t, s.PutPart(ctx, shown)) // as at its end
	if left := topFiles(t, dir, "open"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A window over an output that grows costs what was printed, not what is shown.
func TestProgressOfAWindow(t *testing.T) {
	for name, print := range map[string]func(i int) string{
		"lines":  func(i int) string { return fmt.Sprintf("line %d of the output, which says nothing\n", i) },
		"same":   func(int) string { return strings.Repeat("y\n", 20) },
		"one":    func(int) string { return strings.Repeat("=", 80) },
		"markup": func(i int) string { return fmt.Sprintf("<li>%d & <b>more</b> of it, and \"more\"</li>\n", i) },
		"nearly": func(i int) string {
			return strings.Repeat("ok  \tpackage of many with a name that is long\t(cached)\n", 1+i%7) + "FAIL\n"
		},
		"unicode": func(i int) string {
			return fmt.Sprintf("строка %d вывода, которая ничего не говорит\n", i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all string
			var state *shownState
			var file []byte
			for i := range 1000 {
				all += print(i)
				show := all
				if len(show) > 5000 {
					show = "...\n\n" + strings.ToValidUTF8(show[len(show)-5000:], "")
				}
				now := &shownState{output: show, prints: true}
				file = append(file, marshalLine(t, state.to(now))...)
				state = now
			}
			if len(file) > 3*len(all) {
				t.Errorf("%d bytes for %d printed", len(file), len(all))
			}
			var run lathe.ToolRunning
			addProgress(&run, file)
			if run.Metadata["output"] != state.output {
				t.Errorf("got %q", run.Metadata["output"])
			}
		})
	}
}

func marshalLine(t testing.TB, d shownDoc) []byte {
	t.Helper()
	line, err := d.line()
	must(t, err)
	return line
}

// TestProgressCut reads a file that ends anywhere: what was shown at some time.
func TestProgressCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a\n", "...\n\n", "ünï", strings.Repeat("x", 70), "\xff", strings.Repeat("ab\n", 40), ""})
		var state *shownState
		var file []byte
		ends := []int{0}
		states := []lathe.ToolRunning{{}}
		out := ""
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				out = out[rapid.IntRange(0, len(out)).Draw(t, "from"):]
			case 1:
				out = piece.Draw(t, "head") + out[len(out)/2:]
			default:
				out += piece.Draw(t, "add")
			}
			run := lathe.ToolRunning{Title: piece.Draw(t, "title"), Metadata: map[string]any{"output": out, "n": float64(len(out) % 2)}}
			if rapid.IntRange(0, 5).Draw(t, "bare") == 0 {
				run.Metadata = nil
			}
			now, err := showing(&run)
			if err != nil {
				t.Fatal(err)
			}
			line, err := state.to(now).line()
			if err != nil {
				t.Fatal(err)
			}
			state, file = now, append(file, line...)
			clean := lathe.ToolRunning{Title: strings.ToValidUTF8(run.Title, "\uFFFD"), Metadata: run.Metadata}
			if run.Metadata != nil {
				clean.Metadata = map[string]any{"output": strings.ToValidUTF8(out, "\uFFFD"), "n": run.Metadata["n"]}
			}
			ends, states = append(ends, len(file)), append(states, clean)
		}
		cut := rapid.IntRange(0, len(file)).Draw(t, "cut")
		want := lathe.ToolRunning{}
		for i, end := range ends {
			if end <= cut {
				want = states[i]
			}
		}
		var got lathe.ToolRunning
		addProgress(&got, file[:cut])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cut at %d of %d (-want +got):\n%s", cut, len(file), diff)
		}
	})
}

func FuzzProgress(f *testing.F) {
	f.Add([]byte(`{"title":"t","rest":{"a":1},"prints":true,"add":"x"}` + "\n" + `{"drop":1,"add":"y"}` + "\n"))
	f.Add([]byte(`{"drop":-1}` + "\n"))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, file []byte) {
		run := lathe.ToolRunning{Start: time.Time{}}
		addProgress(&run, file)
		if out, ok := run.Metadata["output"].(string); ok && len(out) > 3*len(file) {
			t.Errorf("%d bytes from %d", len(out), len(file))
		}
	})
}

// BenchmarkProgress prints a line at a time.
func BenchmarkProgress(b *testing.B) {
	s, ctx := open(b, b.TempDir()), b.Context()
	ses := seed(b, s, "ses_a")
	must(b, s.AddMessage(ctx, assistant(ses, "msg_1", lathe.Assistant{})))
	var whole strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&whole, "line %d of output like many\n", i)
	}
	all := whole.String()
	for name, size := range map[string]int{"small": 1 << 10, "window": 30_000} {
		b.Run(name, func(b *testing.B) {
			p := runningCall(ses, "prt_"+name, "t", map[string]any{"output": ""})
			must(b, s.PutPart(ctx, p))
			run := p.Body.(*lathe.ToolCall).State.(*lathe.ToolRunning)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i * 50 % (len(all) - size)
				run.Metadata["output"] = "...\n\n" + all[at:at+size]
				must(b, s.SaveProgress(ctx, p))
			}
		})
	}
}
