package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/session"
)

func TestImportAgain(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	at := time.UnixMilli(1000)
	from := func(hash string, texts ...string) session.Import {
		in := session.Import{Session: lathe.Session{ID: "ses_x", Directory: w.repo, Title: "T", Created: at, Updated: at}, Hash: hash}
		for i, text := range texts {
			id := lathe.MessageID("msg_" + string(rune('a'+i)))
			in.Messages = append(in.Messages, lathe.Message{ID: id, SessionID: "ses_x", Created: at, Info: &lathe.User{},
				Parts: []lathe.Part{{ID: lathe.PartID("prt_" + string(rune('a'+i))), MessageID: id, SessionID: "ses_x", Body: &lathe.Text{Text: text}}}})
		}
		return in
	}
	var got []session.Imported
	take := func(in session.Import) {
		t.Helper()
		out, err := s.Importer.Add(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out)
	}
	take(from("1", "one"))
	take(from("1", "one"))
	take(from("2", "one", "two"))
	w.ask(s, "ses_x", "true")
	take(from("3", "one", "two", "three"))
	if diff := cmp.Diff([]session.Imported{session.ImportAdded, session.ImportSame, session.ImportUpdated, session.ImportKept}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if n := len(w.users(s, "ses_x")); n != 3 {
		t.Errorf("there are %d user messages", n)
	}
	in := from("3", "one")
	s.Importer.NewIDs(&in)
	if in.Session.ID == "ses_x" || in.Messages[0].ID == "msg_a" || in.Messages[0].Parts[0].SessionID != in.Session.ID {
		t.Errorf("identifiers stayed: %+v", in)
	}
	take(in)
}
