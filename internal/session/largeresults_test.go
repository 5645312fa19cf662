package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/tokens"
)

// TestBatchOfLargeReads holds that what one step read is shown to the model before
// it leaves the window, however large the batch is: cut where it does not fit, and
// said to be. What the files say at their beginning is in the next request, also
// when a compaction comes between.
func TestBatchOfLargeReads(t *testing.T) {
	for _, tt := range []struct {
		window, files int
		before        int // steps of work before the batch
	}{{24_000, 6, 0}, {24_000, 6, 4}, {128_000, 14, 0}, {128_000, 12, 8}, {200_000, 20, 0}, {200_000, 14, 12}} {
		t.Run(fmt.Sprintf("%d tokens, after %d steps", tt.window, tt.before), func(t *testing.T) {
			t.Parallel()
			tree := map[string]string{"repo/opencode.json": fmt.Sprintf(
				`{"provider":{"script":{"models":{"m":{"limit":{"context":%d,"output":6000}}}}},"permission":"allow"}`, tt.window)}
			for i := range tt.files + tt.before {
				var b strings.Builder
				for line := range 900 {
					fmt.Fprintf(&b, "value %d of the file number %d is here\n", line*7919+i, i)
				}
				tree[fmt.Sprintf("repo/f%d.txt", i)] = b.String()
			}
			p := newPlay(t, tree, nil)
			read := func(i int) use { return use{"read", args{"filePath": filepath.Join(p.dir, fmt.Sprintf("f%d.txt", i))}} }
			var step, after atomic.Int64
			var seen atomic.Value
			p.answer = func(req *llm.Request) say {
				if asksSummary(req) || strings.Contains(said(req.Messages), "<conversation>") {
					return say{text: goodSummary}
				}
				switch n := int(step.Add(1)); {
				case n <= tt.before:
					return say{calls: []use{read(tt.files + n - 1)}}
				case n == tt.before+1:
					var all []use
					for i := range tt.files {
						all = append(all, read(i))
					}
					return say{calls: all}
				}
				after.Add(1)
				seen.Store(said(req.Messages))
				return say{text: "All are read."}
			}
			p.open()
			id := p.session()
			if out := p.prompt(id, session.Prompt{}, "Read all files."); out.Failure != nil || after.Load() != 1 {
				t.Fatalf("%v after %d requests more", out.Failure, after.Load())
			}
			text := seen.Load().(string)
			for i := range tt.files {
				if want := fmt.Sprintf("value %d of the file number %d is here", 7919*2+i, i); !strings.Contains(text, want) {
					t.Errorf("the model does not see the third line of file %d", i)
				}
			}
			if !strings.Contains(text, "[cut to fit the window: ") || !strings.Contains(text, "; read from line ") {
				t.Error("nothing is said to be cut")
			}
			if n := tokens.Count(text); n > tt.window {
				t.Errorf("the request has %d tokens for a window of %d", n, tt.window)
			}
			for _, m := range p.messages(id) {
				for _, part := range m.Parts {
					c, ok := part.Body.(*lathe.ToolCall)
					if !ok {
						continue
					}
					if done, ok := c.State.(*lathe.ToolDone); !ok || done.Shown >= len(done.Output) || !strings.HasSuffix(done.Output, "</content>") {
						t.Errorf("a result is not stored whole: %+v", c.State)
					}
				}
			}
		})
	}
}

// TestNewestStepStays holds that a compaction keeps the newest step also where its results
// are more than stays word for word: cut, and said to be, with the line to read on from.
func TestNewestStepStays(t *testing.T) {
	for _, tt := range []struct{ window, files int }{{24_000, 1}, {128_000, 3}, {200_000, 4}} {
		t.Run(fmt.Sprintf("%d tokens", tt.window), func(t *testing.T) {
			t.Parallel()
			tree := map[string]string{"repo/opencode.json": fmt.Sprintf(
				`{"provider":{"script":{"models":{"m":{"limit":{"context":%d,"output":6000}}}}},"permission":"allow"}`, tt.window)}
			for i := range tt.files {
				var b strings.Builder
				for line := range 600 {
					fmt.Fprintf(&b, "value %d of the file number %d is here\n", line*7919+i, i)
				}
				tree[fmt.Sprintf("repo/f%d.txt", i)] = b.String()
			}
			p := newPlay(t, tree, nil)
			p.answer = func(req *llm.Request) say {
				switch {
				case asksSummary(req):
					return say{text: goodSummary}
				case strings.Contains(last(req), "Read all files"):
					var all []use
					for i := range tt.files {
						all = append(all, use{"read", args{"filePath": filepath.Join(p.dir, fmt.Sprintf("f%d.txt", i))}})
					}
					return say{calls: all}
				}
				return say{text: "All is read."}
			}
			p.open()
			id := p.session()
			for _, text := range []string{"Say hello.", "Read all files."} {
				if out := p.prompt(id, session.Prompt{}, text); out.Failure != nil {
					t.Fatal(out.Failure)
				}
			}
			if err := p.svc.Summarize(t.Context(), id, scripted, false); err != nil {
				t.Fatal(err)
			}
			if out := p.prompt(id, session.Prompt{}, "What is in the third line?"); out.Failure != nil {
				t.Fatal(out.Failure)
			}
			asked := p.asked()
			text := said(asked[len(asked)-1].Messages)
			if !strings.Contains(text, goodSummary) {
				t.Fatal("nothing was compacted")
			}
			for i := range tt.files {
				if want := fmt.Sprintf("value %d of the file number %d is here", 7919*2+i, i); !strings.Contains(text, want) {
					t.Errorf("the third line of file %d is gone", i)
				}
			}
			if n := strings.Count(text, "; read from line "); n != tt.files {
				t.Errorf("%d of %d results say where to read on", n, tt.files)
			}
		})
	}
}
