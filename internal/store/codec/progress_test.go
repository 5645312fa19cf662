package codec

import (
	"fmt"
	"lathe"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

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
			var state *Shown
			var file []byte
			for i := range 1000 {
				all += print(i)
				show := all
				if len(show) > 5000 {
					show = "...\n\n" + strings.ToValidUTF8(show[len(show)-5000:], "")
				}
				now := &Shown{output: show, prints: true}
				file = append(file, marshalLine(t, state.to(now))...)
				state = now
			}
			if len(file) > 3*len(all) {
				t.Errorf("%d bytes for %d printed", len(file), len(all))
			}
			var run lathe.ToolRunning
			AddProgress(&run, file)
			if run.Metadata["output"] != state.output {
				t.Errorf("got %q", run.Metadata["output"])
			}
		})
	}
}

func marshalLine(t testing.TB, d shownDoc) []byte {
	t.Helper()
	line, err := d.line()
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestProgressCut reads a file that ends anywhere: what was shown at some time.
func TestProgressCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a\n", "...\n\n", "ünï", strings.Repeat("x", 70), "\xff", strings.Repeat("ab\n", 40), ""})
		var state *Shown
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
			now, err := Showing(&run)
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
		AddProgress(&got, file[:cut])
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
		AddProgress(&run, file)
		if out, ok := run.Metadata["output"].(string); ok && len(out) > 3*len(file) {
			t.Errorf("%d bytes from %d", len(out), len(file))
		}
	})
}
