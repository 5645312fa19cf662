package server

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
)

// stopper is a model that waits for a word before it answers.
type stopper struct {
	here, goOn chan struct{}
	once       sync.Once
}

func newStopper() *stopper { return &stopper{here: make(chan struct{}), goOn: make(chan struct{})} }

func (s *stopper) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if len(req.Tools) > 0 {
			s.once.Do(func() { close(s.here) })
			select {
			case <-s.goOn:
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
		for _, ev := range []llm.Event{llm.TextStart{ID: "t"}, llm.TextDelta{ID: "t", Text: "done"}, llm.TextEnd{ID: "t"}, llm.Finish{Reason: llm.FinishStop}} {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// held makes a session whose model waits, and sends it a prompt; the answer comes
// through the channel.
func (r *rig) held(name string) (path string, s *stopper, answer chan result) {
	s = newStopper()
	r.models[name] = s
	path, answer = r.session(), make(chan result, 1)
	go func() { answer <- r.do("POST", path+"/message", promptBody(name, "go")) }()
	<-s.here
	return path, s, answer
}

type told struct {
	Name, State string
	Info        struct {
		ParentID string
		Error    struct {
			Name string
			Data struct{ Message string }
		}
	}
}

func (res result) told(t *testing.T) (out told) {
	t.Helper()
	if err := json.Unmarshal(res.body, &out); err != nil {
		t.Errorf("%v in %.200s", err, res.body)
	}
	return out
}

// A turn that cannot be recorded is answered once, with a message that says why; a
// full disk has a status, shows in the health, and is over by itself.
func TestDiskFull(t *testing.T) {
	r := newRig(t)
	healthy := func(want int, state string) {
		t.Helper()
		res := r.do("GET", "/global/health", "")
		if got := res.told(t).State; res.status != want || got != state {
			t.Errorf("health is %d %q, want %d %q", res.status, got, want, state)
		}
	}
	path, s, answer := r.held("wait")
	healthy(http.StatusOK, "ready")
	full := error(syscall.ENOSPC)
	r.fault.Store(&full)
	close(s.goOn)
	res := <-answer
	if e := res.told(t).Info.Error; res.status != http.StatusOK || !strings.Contains(e.Data.Message, "no space left") {
		t.Errorf("a turn without space is answered %d %.300s", res.status, res.body)
	}
	for _, call := range []string{path + "/message", path + "/prompt_async", "/session"} {
		if res := r.do("POST", call, promptBody("wait", "more")); res.status != http.StatusInsufficientStorage || res.told(t).Name != "StorageFullError" {
			t.Errorf("%s without space: %d %s", call, res.status, res.body)
		}
	}
	healthy(http.StatusServiceUnavailable, "full")
	readOnly := error(syscall.EROFS)
	r.fault.Store(&readOnly)
	if res := r.do("POST", path+"/message", promptBody("wait", "more")); res.status != http.StatusServiceUnavailable || res.told(t).Name != "StorageReadOnlyError" {
		t.Errorf("a disk that cannot be written: %d %s", res.status, res.body)
	}
	healthy(http.StatusServiceUnavailable, "read-only")
	r.ok("POST", "/instance/dispose", "") // opened again, the directory can be read
	r.ok("GET", path+"/message", "")
	r.ok("GET", "/config", "")
	r.fault.Store(nil)
	healthy(http.StatusOK, "ready")
	r.ok("POST", path+"/message", promptBody("wait", "again"))
}

// A prompt whose session is deleted is answered as not found.
func TestSessionDeletedUnderPrompt(t *testing.T) {
	r := newRig(t)
	path, _, answer := r.held("wait")
	r.ok("DELETE", path, "")
	if res := <-answer; res.status != http.StatusNotFound || res.told(t).Name != "NotFoundError" {
		t.Errorf("the prompt is answered %d %s", res.status, res.body)
	}
}

// Who was told that a prompt or a compaction is taken sees the session busy.
func TestStatusAfterPrompt(t *testing.T) {
	r := newRig(t)
	model := r.script("wait.txt", "stall\n")
	for range 20 {
		path := r.session()
		r.ok("POST", path+"/prompt_async", promptBody(model, "go"))
		id := strings.TrimPrefix(path, "/session/")
		status := r.ok("GET", "/session/status", "").(map[string]any)
		if diff := cmp.Diff(map[string]any{"type": "busy"}, status[id]); diff != "" {
			t.Fatalf("status (-want +got):\n%s", diff)
		}
		r.ok("POST", path+"/abort", "")
		if st := r.svc.Status(lathe.SessionID(id)); st != (lathe.Idle{}) {
			t.Fatalf("after the abort it is %v", st)
		}
	}
}
