package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/sqlite"
	"lathe/internal/store/storetest"
)

// BenchmarkOpen is the opening of a session of 5,000 messages: what a turn needs
// of it, and the newest page that a screen shows; beside a session of 20.
func BenchmarkOpen(b *testing.B) {
	db, err := sqlite.Open(b.Context(), sqlite.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := storetest.Store{Store: db.Store()}
	for _, of := range []struct {
		id       lathe.SessionID
		messages int
		boundary int64
	}{{"ses_small", 20, 0}, {"ses_compacted", 5000, 4980}, {"ses_whole", 5000, 0}} {
		fill(b, s, of.id, of.messages, of.boundary)
		b.Run(strings.TrimPrefix(string(of.id), "ses_")+"/tail", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Tail(b.Context(), of.id); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(strings.TrimPrefix(string(of.id), "ses_")+"/page", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range s.Messages(b.Context(), of.id, store.MessageFilter{Limit: 20}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// fill makes a session of prompts and answers, each of 400 bytes.
func fill(b *testing.B, s storetest.Store, id lathe.SessionID, messages int, boundary int64) {
	b.Helper()
	at := time.Unix(1_800_000_000, 0)
	err := s.CreateSession(b.Context(), lathe.Session{ID: id, Directory: "/d", Title: "t", Created: at, Updated: at})
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("what was said ", 28)
	err = s.Batch(b.Context(), func(tx store.Tx) error {
		for i := range messages {
			m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%s_%05d", id, i)), SessionID: id, Created: at, Info: &lathe.User{Agent: "build"}}
			if i%2 == 1 {
				m.Info = &lathe.Assistant{Agent: "build", Completed: at, Finish: lathe.FinishStop}
			}
			m.Parts = []lathe.Part{{ID: lathe.PartID(fmt.Sprintf("prt_%s_%05d", id, i)), Body: &lathe.Text{Text: text, Time: lathe.Span{Start: at, End: at}}}}
			if err := tx.AddMessage(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && boundary > 0 {
		err = s.SetBoundary(b.Context(), id, boundary)
	}
	if err != nil {
		b.Fatal(err)
	}
}
