package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/session"
	"lathe/internal/store"
)

const smallWindow = `{"provider":{"script":{"models":{"m":{"limit":{"context":20000,"output":6000}}}}},"permission":"allow","compaction":{"prune":false}}`

// asksSummary reports whether a request is for a summary.
func asksSummary(req *llm.Request) bool {
	return strings.Contains(last(req), "is about to leave the window")
}

// reader is a model that reads one large file after the other, then stops.
type reader struct {
	files   int
	read    atomic.Int64
	summary func() say
	asked   atomic.Int64
}

func (r *reader) answer(dir string) func(*llm.Request) say {
	return func(req *llm.Request) say {
		if asksSummary(req) {
			r.asked.Add(1)
			return r.summary()
		}
		if n := int(r.read.Load()); n < r.files {
			r.read.Add(1)
			return say{calls: []use{{"read", args{"filePath": filepath.Join(dir, fmt.Sprintf("f%d.txt", n))}}}}
		}
		return say{text: "All files are read."}
	}
}

func readerPlay(t *testing.T, files int, summary func() say) (*play, *reader) {
	t.Helper()
	r := &reader{files: files, summary: summary}
	tree := map[string]string{"repo/opencode.json": smallWindow}
	for i := range files {
		tree[fmt.Sprintf("repo/f%d.txt", i)] = strings.Repeat(fmt.Sprintf("line of file %d with some words\n", i), 250)
	}
	p := newPlay(t, tree, nil)
	p.answer = r.answer(p.dir)
	return p.open(), r
}

const goodSummary = "The user wants all files read, one after the other. So far several of them were read; the next one comes now."

func TestFullWindowIsCompacted(t *testing.T) {
	for name, answer := range map[string]string{"a good summary": goodSummary, "an empty summary": "", "a useless summary": "ok"} {
		t.Run(name, func(t *testing.T) {
			p, r := readerPlay(t, 12, func() say { return say{text: answer} })
			id := p.session()
			sub := p.bus.Subscribe(t.Context(), bus.Filter{}, bus.Limits{})
			out := p.prompt(id, session.Prompt{}, "Read all files. Never touch main.go.")
			if out.Failure != nil {
				t.Fatal(out.Failure)
			}
			if r.asked.Load() == 0 {
				t.Fatal("no summary was asked for")
			}
			sub.Close()
			view := prompt.View(p.tail(id))
			if prompt.Mark(&view[0]) == nil || !view[1].Info.(*lathe.Assistant).Summary {
				t.Fatalf("the view begins with %T %T", view[0].Info, view[1].Info)
			}
			text := said(prompt.Messages(p.tail(id)))
			for _, want := range []string{"What did we do so far?", "Never touch main.go.", "<ledger>", "f0.txt"} {
				if !strings.Contains(text, want) {
					t.Errorf("the model does not see %q after the compaction", want)
				}
			}
			if answer == goodSummary != strings.Contains(text, goodSummary) {
				t.Errorf("the summary %q is or is not there:\n%s", answer, text)
			}
			sess, err := p.svc.Get(t.Context(), id)
			if err != nil || !sess.Compacting.IsZero() {
				t.Errorf("the session is still compacting, %v", err)
			}
			last := p.asked()[len(p.asked())-1]
			if n := len(said(last.Messages)); n > 60_000 {
				t.Errorf("the last request has %d bytes", n)
			}
		})
	}
}

// TestSummarySharesThePrefix holds that the summary is asked for with the request
// that the next step would have made, and the question appended.
func TestSummarySharesThePrefix(t *testing.T) {
	p, _ := readerPlay(t, 8, func() say { return say{text: goodSummary} })
	p.prompt(p.session(), session.Prompt{}, "Read all files.")
	reqs := p.asked()
	for i := range reqs {
		if !asksSummary(&reqs[i]) {
			continue
		}
		before, ask := reqs[i-1], reqs[i]
		if diff := cmp.Diff(before.System, ask.System); diff != "" {
			t.Errorf("system (-before +ask):\n%s", diff)
		}
		if diff := cmp.Diff(before.Tools, ask.Tools); diff != "" {
			t.Errorf("tools (-before +ask):\n%s", diff)
		}
		if diff := cmp.Diff(before.Messages, ask.Messages[:len(before.Messages)]); diff != "" {
			t.Errorf("messages (-before +ask):\n%s", diff)
		}
		if ask.Choice != llm.ChoiceNone {
			t.Errorf("tool choice %q", ask.Choice)
		}
		return
	}
	t.Fatal("no summary was asked for")
}

// TestRefusedForSize holds that a provider's refusal compacts and the turn ends well.
func TestRefusedForSize(t *testing.T) {
	p, r := readerPlay(t, 5, func() say { return say{text: goodSummary} })
	refused := false
	inner := r.answer(p.dir)
	p.answer = func(req *llm.Request) say {
		if !refused && r.read.Load() == 3 && !asksSummary(req) {
			refused = true
			return say{err: &llm.Error{Kind: llm.KindOverflow, Message: "prompt is too long", Status: 400, RetryAfter: -1}}
		}
		return inner(req)
	}
	id := p.session()
	out := p.prompt(id, session.Prompt{}, "Read all files.")
	if out.Failure != nil || !refused {
		t.Fatalf("failure %v, refused %v", out.Failure, refused)
	}
	text := said(prompt.Messages(p.tail(id)))
	if !strings.Contains(text, "What did we do so far?") || !strings.Contains(text, "All files are read.") {
		t.Errorf("after the refusal the model sees:\n%s", text)
	}
}

// TestInterruptedCompaction holds that a compaction which does not end leaves the
// session as it was, and usable.
func TestInterruptedCompaction(t *testing.T) {
	abort := func(p *play, id lathe.SessionID) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // stop the turn, and do not wait for it
		_ = p.svc.Abort(ctx, id)
	}
	for name, tt := range map[string]struct {
		answer say
		during func(*play, lathe.SessionID)
		want   string
	}{
		"empty answer":   {answer: say{}, want: "no usable summary"},
		"provider error": {answer: say{err: &llm.Error{Kind: llm.KindServer, Message: "boom", Status: 500, RetryAfter: -1}}, want: "boom"},
		"abort":          {during: abort, want: "abort"},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := readerPlay(t, 1, nil)
			id := p.session()
			p.prompt(id, session.Prompt{}, "Read all files.")
			before := p.messages(id)
			r.summary = func() say {
				if tt.during != nil {
					tt.during(p, id)
					return say{text: goodSummary}
				}
				return tt.answer
			}
			err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{}, false)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Summarize = %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(before, p.messages(id)); diff != "" {
				t.Errorf("messages changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(before, p.tail(id)); diff != "" {
				t.Errorf("the live history changed (-before +after):\n%s", diff)
			}
			if sess, err := p.svc.Get(t.Context(), id); err != nil || !sess.Compacting.IsZero() {
				t.Errorf("still compacting: %v %v", sess.Compacting, err)
			}
			if out := p.prompt(id, session.Prompt{}, "Go on."); out.Failure != nil {
				t.Errorf("the session is not usable: %v", out.Failure)
			}
		})
	}
}

func TestManualCompaction(t *testing.T) {
	p, _ := readerPlay(t, 2, func() say { return say{text: goodSummary} })
	id := p.session()
	if err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{}, false); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("compacting nothing: %v", err)
	}
	p.prompt(id, session.Prompt{}, "Read all files.")
	if err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{}, false); err != nil {
		t.Fatal(err)
	}
	first := p.tail(id)
	if view := prompt.View(first); len(view) < 2 || prompt.Mark(&view[0]).Auto {
		t.Fatalf("a view of %d messages", len(view))
	}
	out := p.prompt(id, session.Prompt{}, "And now?")
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	if err := p.svc.Summarize(t.Context(), id, lathe.ModelRef{}, false); err != nil {
		t.Fatal(err)
	}
	text := said(prompt.Messages(p.tail(id)))
	if n := strings.Count(text, "What did we do so far?"); n != 1 {
		t.Errorf("%d summaries are live", n)
	}
	if !strings.Contains(text, "Read all files.") || !strings.Contains(text, "And now?") {
		t.Errorf("the second ledger lost requests:\n%s", text)
	}
}

// TestFloorLargerThanWindow holds that instructions which fill the window end the
// turn at once, saying so.
func TestFloorLargerThanWindow(t *testing.T) {
	p := newPlay(t, map[string]string{
		"repo/opencode.json": smallWindow, "repo/AGENTS.md": strings.Repeat("Follow this important rule of the project.\n", 3000),
	}, func(*llm.Request) say { return say{text: "hi"} })
	p.open()
	out := p.prompt(p.session(), session.Prompt{}, "hello")
	if f, ok := out.Failure.(*lathe.OverflowFailure); !ok || !strings.Contains(f.Message, "instructions take") {
		t.Errorf("failure %v", out.Failure)
	}
	if n := len(p.asked()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// tail returns the live history of a session, as a turn loads it.
func (p *play) tail(id lathe.SessionID) []lathe.Message {
	p.t.Helper()
	list, err := p.svc.Windows.Live(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// TestPruneComesFirst holds that old outputs go before a summary is asked for, in
// batches, and that what is gone is still stored.
func TestPruneComesFirst(t *testing.T) {
	p, r := readerPlay(t, 12, func() say { return say{text: goodSummary} })
	writeFile(t, filepath.Join(p.dir, "opencode.json"), strings.Replace(smallWindow, "false", "true", 1))
	id := p.session()
	var told int64
	events := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id})
	p.prompt(id, session.Prompt{}, "Read all files.")
	if r.asked.Load() != 0 {
		t.Error("a summary was asked for")
	}
	for e, err := range events.All() {
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := e.Event.(lathe.SessionStatus); ok && st.Status == (lathe.Idle{}) {
			break
		}
		if ev, ok := e.Event.(lathe.SessionPruned); ok {
			told += ev.Tokens
		}
	}
	events.Close()
	cleared := 0
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if c, ok := part.Body.(*lathe.ToolCall); ok {
				if done, ok := c.State.(*lathe.ToolDone); ok && !done.Compacted.IsZero() {
					cleared++
					if !strings.Contains(done.Output, "line of file") {
						t.Error("the output itself is gone")
					}
				}
			}
		}
	}
	stats, err := p.svc.Windows.Stats(t.Context(), id)
	if err != nil || cleared < 4 || stats.Prunes == 0 || stats.Prunes > 5 || stats.Pruned < 8000 {
		t.Errorf("%d outputs cleared in %d prunes of %d tokens, %v", cleared, stats.Prunes, stats.Pruned, err)
	}
	if told != stats.Pruned {
		t.Errorf("events tell of %d tokens freed, the stats of %d", told, stats.Pruned)
	}
	if stats.Cache.Ours != 0 || stats.Cache.Announced != stats.Prunes {
		t.Errorf("%d prefixes broken by lathe, %d announced", stats.Cache.Ours, stats.Cache.Announced)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompactionSwitchedOff(t *testing.T) {
	p, r := readerPlay(t, 12, func() say { return say{text: goodSummary} })
	writeFile(t, filepath.Join(p.dir, "opencode.json"), strings.Replace(smallWindow, `"prune"`, `"auto":false,"prune"`, 1))
	p.prompt(p.session(), session.Prompt{}, "Read all files.")
	if r.asked.Load() != 0 {
		t.Error("a summary was asked for")
	}
}

// TestAlwaysRefused holds that a provider which never takes a request ends the
// turn after a few compactions, saying what fills the window.
func TestAlwaysRefused(t *testing.T) {
	p, r := readerPlay(t, 1, func() say { return say{text: goodSummary} })
	inner := r.answer(p.dir)
	tries := 0
	p.answer = func(req *llm.Request) say {
		if asksSummary(req) {
			return inner(req)
		}
		tries++
		return say{err: &llm.Error{Kind: llm.KindOverflow, Message: "prompt is too long", Status: 400, RetryAfter: -1}}
	}
	out := p.prompt(p.session(), session.Prompt{}, "hello")
	if _, ok := out.Failure.(*lathe.OverflowFailure); !ok || tries > 4 {
		t.Errorf("failure %v after %d tries", out.Failure, tries)
	}
}

// TestPendingMarkIsATask holds that a stored request for a compaction is carried out.
func TestPendingMarkIsATask(t *testing.T) {
	p, _ := readerPlay(t, 2, func() say { return say{text: goodSummary} })
	id := p.session()
	p.prompt(id, session.Prompt{}, "Read all files.")
	out := p.prompt(id, session.Prompt{Parts: []lathe.PartBody{&lathe.CompactionMark{}}})
	view := prompt.View(p.tail(id))
	if out.Failure != nil || len(view) < 2 || !view[1].Info.(*lathe.Assistant).Summary {
		t.Errorf("failure %v, a view of %d messages", out.Failure, len(view))
	}
}

// The first request of a session without instructions, skills and further tools stays
// below 4,000 tokens, what it says of the environment among them.
func TestFirstRequestIsSmall(t *testing.T) {
	p, _ := readerPlay(t, 0, func() say { return say{text: "done"} })
	id := p.session()
	p.prompt(id, session.Prompt{}, "hello")
	w, err := p.svc.Windows.Of(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if w.Used < 2000 || w.Used > 4000 {
		t.Errorf("the first request takes %d tokens: %+v", w.Used, w.Kinds)
	}
}

// What a session has no use for yet is not told to the model, and the set that is told
// changes with a compaction alone.
func TestToolsWithNothingToDo(t *testing.T) {
	p, _ := readerPlay(t, 2, func() say { return say{text: goodSummary} })
	id := p.session()
	p.prompt(id, session.Prompt{}, "Read all files.")
	names := func() (out []string) {
		for _, r := range p.asked() {
			if len(r.Tools) == 0 {
				continue // a title or a summary
			}
			out = nil
			for _, t := range r.Tools {
				out = append(out, t.Name)
			}
		}
		return out
	}
	before := names()
	for _, quiet := range []string{"recall", "skill", "list", "multiedit", "todoread"} {
		if slices.Contains(before, quiet) {
			t.Errorf("%s is offered: %v", quiet, before)
		}
	}
	p.prompt(id, session.Prompt{Parts: []lathe.PartBody{&lathe.CompactionMark{}}})
	p.prompt(id, session.Prompt{}, "Go on.")
	after := names()
	if !slices.Contains(after, "recall") || slices.Contains(after, "skill") {
		t.Errorf("after a compaction: %v", after)
	}
}

func TestWindow(t *testing.T) {
	p, _ := readerPlay(t, 2, func() say { return say{text: goodSummary} })
	id := p.session()
	p.prompt(id, session.Prompt{}, "Read all files.")
	w, err := p.svc.Windows.Of(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	names := map[string]int{}
	for _, k := range w.Kinds {
		sum += k.Tokens
		names[k.Name] = k.Count
	}
	if sum != w.Used || w.Usable != 14_000 || w.Limit != 20_000 || names["tool read"] != 2 || names["your messages"] != 1 {
		t.Errorf("window %+v", w)
	}
	if w.Parts[0].Name != "tool read" || w.Parts[0].Tokens < 1500 {
		t.Errorf("largest part %+v", w.Parts[0])
	}
}

// A compaction that meets a store which is away is stored when that is back: its summary was paid for.
func TestCompactionWaitsForTheStore(t *testing.T) {
	var p *play
	p, _ = readerPlay(t, 12, func() say {
		away := fmt.Errorf("no route: %w", store.ErrAway)
		p.fault.Store(&away)
		return say{text: goodSummary}
	})
	p.once = true
	id := p.session()
	if out := p.prompt(id, session.Prompt{}, "Read all files."); out.Failure != nil {
		t.Fatal(out.Failure)
	}
	if p.fault.Load() != nil {
		t.Fatal("the store was not away")
	}
	if view := prompt.View(p.tail(id)); prompt.Mark(&view[0]) == nil || !strings.Contains(said(prompt.Messages(view)), goodSummary) {
		t.Error("the compaction is not stored")
	}
}
