package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// Whoever indexes leaves alone what another is about to remove: waiting for it, each would wait
// for the other, and the database would undo one of them.
func TestIndexingWaitsForNoRemoval(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	for _, id := range []lathe.MessageID{"msg_1", "msg_2"} {
		must(t, s.AddMessage(ctx, &lathe.Message{ID: id, SessionID: "ses_1", Info: &lathe.User{}, Parts: []lathe.Part{
			{ID: lathe.PartID("prt" + id[3:]), MessageID: id, SessionID: "ses_1", Body: &lathe.Text{Text: "words of " + string(id)}},
		}}))
	}
	removing, err := pgx.Connect(ctx, url)
	must(t, err)
	defer removing.Close(ctx)
	_, err = removing.Exec(ctx, `BEGIN; SELECT 1 FROM message WHERE id = 'msg_1' FOR UPDATE; SELECT 1 FROM part WHERE id = 'prt_1' FOR UPDATE`)
	must(t, err)
	if n, err := s.Index(ctx); n != 1 || err != nil {
		t.Errorf("%d messages were indexed, %v", n, err)
	}
	_, err = removing.Exec(ctx, `ROLLBACK`)
	must(t, err)
	if n, err := s.Index(ctx); n != 1 || err != nil {
		t.Errorf("later %d messages were indexed, %v", n, err)
	}
}
