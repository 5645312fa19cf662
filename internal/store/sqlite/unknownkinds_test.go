package sqlite

import (
	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/storetest"
	"testing"
)

func TestUnknownKinds(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, storetest.UserMessage(ses, "msg_1", storetest.Text("prt_1", "a"), storetest.Text("prt_2", "b"))))
	must(t, s.AddMessage(ctx, storetest.UserMessage(ses, "msg_2")))
	must(t, s.batch(ctx, func(tx *tx) error {
		if _, err := tx.exec(`UPDATE part SET kind = 'hologram', data = '{"beam":1}' WHERE id = 'prt_1'`); err != nil {
			return err
		}
		if _, err := tx.exec(`UPDATE part SET data = '{"text":"b","time":{},"new":{"x":[1]}}' WHERE id = 'prt_2'`); err != nil {
			return err
		}
		_, err := tx.exec(`UPDATE message SET role = 'ghost' WHERE id = 'msg_2'`)
		return err
	}))
	got, err := s.Tail(ctx, ses)
	must(t, err)
	want := storetest.UserMessage(ses, "msg_1", lathe.Part{
		ID: "prt_2", SessionID: ses, MessageID: "msg_1", Seq: 2, Body: &lathe.Text{Text: "b"},
	})
	want.Seq = 1
	equal(t, []lathe.Message{*want}, got)
	n := 0
	for _, err := range s.Messages(ctx, ses, store.MessageFilter{}) {
		must(t, err)
		n++
	}
	equal(t, 1, n)
	must(t, s.read(ctx, func(v *view) error {
		var raw string
		must(t, v.row(`SELECT data FROM part WHERE id = 'prt_1'`).Scan(&raw))
		equal(t, `{"beam":1}`, raw)
		return nil
	}))
}
