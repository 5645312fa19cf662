package session

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/store/sqlite"
	"lathe/internal/store/storetest"
	"lathe/internal/turn"
)

// TestRecorderOutOfSpace lets what streams find no place to be kept, then a place
// again: that is said once for each part, and nothing of it is lost.
func TestRecorderOutOfSpace(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store := storetest.Store{Store: db.Store()}
	var logged bytes.Buffer
	at := time.Unix(1, 0).UTC()
	sess := lathe.Session{ID: "ses_1", Directory: "/d", Created: at, Updated: at}
	r := newRecorder(&Service{opts: Options{
		Store: store.Store, Writer: commit.New(store.Store, bus.New(bus.Options{})), Now: func() time.Time { return at }, Log: slog.New(slog.NewTextHandler(&logged, nil)),
	}}, sess)
	defer r.close()
	if err := store.CreateSession(ctx, sess); err != nil {
		t.Fatal(err)
	}
	commit := func(c turn.Change) {
		t.Helper()
		if err := r.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	text := &lathe.Part{ID: "prt_1", SessionID: "ses_1", MessageID: "msg_1", Body: &lathe.Text{Time: lathe.Span{Start: at}}}
	call := &lathe.Part{ID: "prt_2", SessionID: "ses_1", MessageID: "msg_1"}
	shows := func(output string) lathe.Part {
		call.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolRunning{
			Input: []byte(`{}`), Title: "t", Metadata: map[string]any{"output": output}, Start: at,
		}}
		return *call
	}
	commit(turn.Change{Message: &lathe.Message{ID: "msg_1", SessionID: "ses_1", Created: at, Info: &lathe.Assistant{}}})
	commit(turn.Change{Part: text})
	shows("")
	commit(turn.Change{Part: call})
	stored := func(wantText, wantOutput string) {
		t.Helper()
		m, err := store.Message(ctx, "ses_1", "msg_1")
		if err != nil {
			t.Fatal(err)
		}
		want := []lathe.Part{*text, shows(wantOutput)}
		want[0].Body = &lathe.Text{Text: wantText, Time: lathe.Span{Start: at}}
		if diff := cmp.Diff(want, m.Parts); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
	}

	place := filepath.Join(dir, "open")
	_ = os.RemoveAll(place)
	if err := os.WriteFile(place, nil, 0o600); err != nil { // no directory: nothing can be kept in it
		t.Fatal(err)
	}
	for _, word := range []string{"one ", "two ", "three "} {
		r.Delta(context.Background(), text, word, nil)
		r.Progress(shows("printed " + word))
		r.checkpoint()
	}
	if n := strings.Count(logged.String(), "\n"); n != 2 {
		t.Errorf("said %d times:\n%s", n, logged.String())
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	r.Delta(context.Background(), text, "four", nil)
	r.Progress(shows("printed much"))
	r.checkpoint()
	stored("one two three four", "printed much")

	r.Progress(shows("printed more")) // not yet stored when the call ends
	ended := *call
	ended.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolDone{
		Input: []byte(`{}`), Output: "all", Metadata: map[string]any{}, Time: lathe.Span{Start: at, End: at},
	}}
	commit(turn.Change{Part: &ended})
	r.checkpoint()
	m, err := store.Message(ctx, "ses_1", "msg_1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ended, m.Parts[1]); diff != "" {
		t.Errorf("after its end (-want +got):\n%s", diff)
	}
	if len(r.progress) != 0 {
		t.Errorf("%d ended calls are remembered", len(r.progress))
	}
}
