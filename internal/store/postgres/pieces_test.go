package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// Text that streams slowly is not a row for each time that it is stored, and what is appended
// again is there once.
func TestPiecesOfATextAreFew(t *testing.T) {
	url := pgtest.Schema(t)
	_, s := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	must(t, s.AddMessage(ctx, &lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.Assistant{}}))
	must(t, s.PutPart(ctx, &lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Text: "begin ", Time: lathe.Span{Start: time.Now()}}}))
	whole := "begin "
	for i := range 100 {
		piece := fmt.Sprintf("%d 文字; ", i)
		if i == 50 {
			piece = strings.Repeat(piece, 1000)
		}
		must(t, s.AppendText(ctx, "prt_1", int64(len(whole)), piece))
		must(t, s.AppendText(ctx, "prt_1", int64(len(whole)), piece+"and")) // its first attempt was answered by nobody
		whole += piece + "and"
	}
	m, err := s.Message(ctx, "ses_1", "msg_1")
	must(t, err)
	if got := m.Parts[0].Body.(*lathe.Text).Text; got != whole {
		t.Errorf("%d bytes, want %d: %.80q", len(got), len(whole), got)
	}
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(ctx)
	var rows int
	must(t, conn.QueryRow(ctx, `SELECT count(*) FROM piece`).Scan(&rows))
	if rows > 20 {
		t.Errorf("%d pieces", rows)
	}
}
