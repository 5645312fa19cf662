package sqlite

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store/storetest"
)

// runningCall is a stored call of a tool that shows something.
func runningCall(ses lathe.SessionID, id, title string, meta map[string]any) *lathe.Part {
	return &lathe.Part{ID: lathe.PartID(id), SessionID: ses, MessageID: "msg_1", Body: &lathe.ToolCall{
		CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`), Title: title, Metadata: meta, Start: epoch},
	}}
}

// A tool that shows much has a file that stays small.
func TestProgressIsBounded(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, storetest.Assistant(ses, "msg_1", lathe.Assistant{})))
	must(t, s.PutPart(ctx, runningCall(ses, "prt_1", "", nil)))
	var shown *lathe.Part
	for i := range 60 {
		shown = runningCall(ses, "prt_1", "", map[string]any{"output": strings.Repeat(fmt.Sprintf("%d,", i), 10_000)})
		must(t, s.SaveProgress(ctx, shown))
		files, err := os.ReadDir(s.texts.Dir)
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

// BenchmarkProgress prints a line at a time.
func BenchmarkProgress(b *testing.B) {
	s, ctx := open(b, b.TempDir()), b.Context()
	ses := seed(b, s, "ses_a")
	must(b, s.AddMessage(ctx, storetest.Assistant(ses, "msg_1", lathe.Assistant{})))
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
