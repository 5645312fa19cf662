package commit_test

import (
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/store/postgres/pgtest"
)

// newStreaming returns two servers of one store; on the first a text is open that both know.
func newStreaming(t *testing.T) (a, b *node) {
	t.Helper()
	url := pgtest.Schema(t)
	a, b = newNode(t, url), newNode(t, url)
	ready(t, a, b)
	create(t, a, "ses_1")
	b.until(t, "created ses_1 in /work")
	part := lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Time: lathe.Span{Start: time.Now()}}}
	err := a.Commit(t.Context(), func(tx *commit.Tx) error {
		err := tx.AddMessage(&lathe.Message{ID: "msg_1", SessionID: "ses_1", Created: time.Now(), Info: &lathe.Assistant{}})
		if err == nil {
			err = tx.PutPart(&part)
		}
		tx.Tell("/work", lathe.PartUpdated{Part: part, New: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.until(t, "part prt_1 new=true ")
	return a, b
}

// Text is heard on another server before it is stored, once, and what was lost on the way,
// or does not fit into a notification, or is no text of UTF-8, is read from what is stored.
func TestRelayTellsTextBeforeItIsStored(t *testing.T) {
	a, b := newStreaming(t)
	heard := ""
	hear := func(all string) {
		t.Helper()
		for heard != all {
			heard += strings.TrimPrefix(b.next(t), "delta prt_1 ")
			if !strings.HasPrefix(all, heard) {
				t.Fatalf("heard %.40q… %d of %d bytes", heard, len(heard), len(all))
			}
		}
	}
	tell := func(at int, text string) { a.Streams.(store.Teller).TellText(t.Context(), "prt_1", int64(at), text) }
	keep := func(at int, text string) {
		t.Helper()
		if err := a.AppendText(t.Context(), "prt_1", int64(at), text); err != nil {
			t.Fatal(err)
		}
	}
	long, odd := strings.Repeat("文字 ", 40_000), "\x00\xff end"
	several := strings.Repeat("文字 ", 4000) // notifications
	for _, text := range []string{"one 文字", " two\n", "", "  three", several, long, odd, " last"} {
		at := len(heard)
		tell(at, text)
		if text != long && text != odd { // those have to be stored first
			hear(heard + text)
		}
		keep(at, text)
		hear(heard[:at] + text)
	}
	// What was told out of turn is left, and comes with what is stored.
	at, all := len(heard), heard
	tell(at+len("stored "), "told")
	keep(at, "stored ")
	keep(at+len("stored "), "told and stored")
	hear(all + "stored told and stored")
}

// A server whose session was taken over tells nothing any more.
func TestRelayTellsNoTextOfAnOldOwner(t *testing.T) {
	a, b := newStreaming(t)
	if _, err := b.kept.Acquire(t.Context(), "ses_1", b.self); err != nil {
		t.Fatal(err)
	}
	a.Streams.(store.Teller).TellText(t.Context(), "prt_1", 0, "of the old owner")
	if err := rename(t.Context(), a, "ses_1", "after it"); err != nil {
		t.Fatal(err)
	}
	if seen := b.until(t, "updated ses_1 after it"); len(seen) > 0 {
		t.Errorf("heard %q", seen)
	}
}
