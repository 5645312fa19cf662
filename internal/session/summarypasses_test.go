package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/tokens"
)

// passes plays a session whose summariser has a smaller window than the conversation, and
// keeps what the summariser was shown.
type passes struct {
	*play
	mu      sync.Mutex
	shown   []string
	summary func(n int) string
}

func newPasses(t *testing.T, window, small, files int) *passes {
	t.Helper()
	tree := map[string]string{"repo/opencode.json": fmt.Sprintf(`{"provider":{"script":{"models":{
		"m":{"limit":{"context":%d,"output":6000}},"s":{"limit":{"context":%d,"output":2000}}}}},
		"agent":{"compaction":{"model":"script/s"}},"permission":"allow","compaction":{"prune":false}}`, window, small)}
	for i := range files {
		var b strings.Builder
		for line := range 300 {
			fmt.Fprintf(&b, "value %d of 文件 %d is here\n", line*7919+i, i)
		}
		tree[fmt.Sprintf("repo/f%d.txt", i)] = b.String()
	}
	p := &passes{play: newPlay(t, tree, nil), summary: func(n int) string { return fmt.Sprintf("What the parts up to number %d held: %s", n, goodSummary) }}
	var read atomic.Int64
	p.answer = func(req *llm.Request) say {
		if asksSummary(req) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.shown = append(p.shown, last(req))
			return say{text: p.summary(len(p.shown))}
		}
		if n := int(read.Load()); n < files {
			read.Add(1)
			return say{calls: []use{{"read", args{"filePath": filepath.Join(p.dir, fmt.Sprintf("f%d.txt", n))}}}}
		}
		return say{text: "All files are read."}
	}
	p.open()
	return p
}

// A summary of more than the summariser's window is made in parts, each with the summary
// of those before it: what leaves the conversation's window was shown to the summariser.
func TestSummaryInPasses(t *testing.T) {
	for _, tt := range []struct{ window, small, files int }{{24_000, 10_000, 3}, {128_000, 24_000, 14}, {200_000, 24_000, 24}} {
		t.Run(fmt.Sprintf("%d tokens", tt.window), func(t *testing.T) {
			t.Parallel()
			p := newPasses(t, tt.window, tt.small, tt.files)
			id := p.session()
			if out := p.prompt(id, session.Prompt{}, "Read all files."); out.Failure != nil || len(p.shown) > 0 {
				t.Fatalf("%v, %d summaries", out.Failure, len(p.shown))
			}
			var lines []string
			for _, m := range p.messages(id) {
				for _, part := range m.Parts {
					if c, ok := part.Body.(*lathe.ToolCall); ok {
						lines = append(lines, strings.Split(c.State.(*lathe.ToolDone).Output, "\n")...)
					}
				}
			}
			if err := p.svc.Summarize(t.Context(), id, scripted, false); err != nil {
				t.Fatal(err)
			}
			if out := p.prompt(id, session.Prompt{}, "Go on."); out.Failure != nil {
				t.Fatal(out.Failure)
			}
			if len(p.shown) < 2 {
				t.Fatalf("%d requests for a summary", len(p.shown))
			}
			asked := p.asked()
			after := said(asked[len(asked)-1].Messages)
			if !strings.Contains(after, p.summary(len(p.shown))) {
				t.Errorf("the last summary is not in the window:\n%.500s", after)
			}
			seen := strings.Join(p.shown, "\n") + after
			for _, line := range lines {
				if !strings.Contains(seen, line) {
					t.Fatalf("%d requests, and nobody saw %q", len(p.shown), line)
				}
			}
			for i, text := range p.shown {
				if n := tokens.Count(text); n > tt.small {
					t.Errorf("part %d has %d tokens for a window of %d", i+1, n, tt.small)
				}
				if i > 0 && !strings.Contains(text, p.summary(i)) {
					t.Errorf("part %d does not show the summary of those before", i+1)
				}
			}
		})
	}
}

// A part that the summariser has no words for is asked for once more, then said to be
// missing; the other parts are not lost with it.
func TestSummaryWithoutOnePart(t *testing.T) {
	p := newPasses(t, 128_000, 24_000, 14)
	good := p.summary
	p.summary = func(n int) string {
		if n == 2 || n == 3 {
			return ""
		}
		return good(n)
	}
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "Read all files."); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	if err := p.svc.Summarize(t.Context(), id, scripted, false); err != nil {
		t.Fatal(err)
	}
	if n := len(p.shown); n < 4 || p.shown[1] != p.shown[2] || !strings.Contains(p.shown[3], "[Part 2 of ") || !strings.Contains(p.shown[3], good(1)) {
		t.Errorf("%d requests", n)
	}
	sess, err := p.svc.Get(t.Context(), id)
	if err != nil || !sess.Compacting.IsZero() {
		t.Errorf("the session is still compacting, %v", err)
	}
}
