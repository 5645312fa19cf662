package turn_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// trees is a worktree that counts its changes.
type trees struct {
	mu    sync.Mutex
	now   string
	known bool
	asked int
	fail  error
}

func (s *trees) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += "x"
	s.known = false
}

func (s *trees) Known() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.known
}

func (s *trees) Track(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	s.known = true
	return s.now, s.fail
}

func (s *trees) Patch(_ context.Context, from string) (lathe.Patch, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = true
	p := lathe.Patch{Hash: from}
	if from != s.now {
		p.Files = []string{"/f"}
	}
	return p, s.now, nil
}

// marks are the snapshots that a turn recorded, in order.
func marks(history []lathe.Message) (out []string) {
	for _, m := range history {
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.StepStart:
				out = append(out, "start "+b.Snapshot)
			case *lathe.StepFinish:
				out = append(out, "finish "+b.Snapshot)
			case *lathe.SnapshotMark:
				out = append(out, "mark "+b.Snapshot)
			case *lathe.Patch:
				out = append(out, "patch "+b.Hash+" "+strings.Join(b.Files, " "))
			}
		}
	}
	return out
}

func reader() tool.Tool {
	t := newTool("look", func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }).(funcTool)
	t.spec.ReadOnly = true
	return t
}

func TestSnapshots(t *testing.T) {
	tree := &trees{now: "t"}
	edit := newTool("edit", func(context.Context, *tool.Call) (tool.Result, error) {
		tree.change()
		return tool.Result{}, nil
	})
	still := newTool("still", func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil })
	r := newRig(t, `tool look {}
---
tool edit {"n":1}
---
tool still {}
---
tool edit {"n":2}
---
text done`, reader(), edit, still)
	r.Snapshots = tree
	r.run(t)
	want := []string{
		"start ", "finish ",
		"start t", "finish tx", "patch t /f",
		"start tx", "finish tx",
		"start tx", "finish txx", "patch tx /f",
		"start ", "finish ",
	}
	if diff := cmp.Diff(want, marks(r.History)); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
	if tree.asked != 1 {
		t.Errorf("%d snapshots were waited for, want only the first", tree.asked)
	}
	order := strings.Join(r.log.events, "\n")
	if !strings.Contains(order, "step finish tool-calls\nmessage") && !strings.Contains(order, "*lathe.Patch") {
		t.Errorf("events:\n%s", order)
	}
}

func TestSnapshotThatFailsLetsTheWorkGoOn(t *testing.T) {
	tree := &trees{now: "t", fail: errors.New("disk full")}
	edit := newTool("edit", func(context.Context, *tool.Call) (tool.Result, error) { tree.change(); return tool.Result{}, nil })
	r := newRig(t, "tool edit {}\n---\ntext done", edit)
	r.Snapshots = tree
	if out := r.run(t); out.Failure != nil {
		t.Errorf("outcome is %+v", out)
	}
	if diff := cmp.Diff([]string{"start ", "finish ", "start ", "finish "}, marks(r.History)); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
}

func TestAbortedStepStillTellsWhatItChanged(t *testing.T) {
	tree := &trees{now: "t"}
	ctx, cancel := context.WithCancelCause(t.Context())
	edit := newTool("edit", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		tree.change()
		cancel(turn.ErrAborted)
		return tool.Result{}, context.Cause(ctx)
	})
	r := newRig(t, "tool edit {}\n---\ntext done", edit)
	r.Snapshots = tree
	if _, err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	got := marks(r.History)
	if len(got) < 2 || got[0] != "start t" || !strings.Contains(strings.Join(got, "\n"), "patch t /f") {
		t.Errorf("snapshots are %q", got)
	}
}
