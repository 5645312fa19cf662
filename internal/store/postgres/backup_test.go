package postgres_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// A dump that is made while a server works comes back whole in another database, and the
// store goes on there.
func TestBackupAndRestore(t *testing.T) {
	server := pgtest.Start(t)
	_, s := open(t, postgres.Options{URL: server.URL()})
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_1")))
	body := strings.Repeat("long 行 ", 30_000)
	must(t, s.AddMessage(t.Context(), &lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_1", Body: &lathe.Text{Text: body}}}}))
	file := filepath.Join(server.Host(), "lathe.dump")
	server.Program(t, "pg_dump", "--format=custom", "--file="+file, server.URL())
	server.Exec(t, "CREATE DATABASE restored")
	restored := strings.Replace(server.URL(), "/postgres?", "/restored?", 1)
	server.Program(t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+restored, file)
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_later")))

	_, back := open(t, postgres.Options{URL: restored})
	m, err := back.Message(t.Context(), "ses_1", "msg_1")
	must(t, err)
	if got := m.Parts[0].Body.(*lathe.Text).Text; got != body {
		t.Errorf("%d bytes came back", len(got))
	}
	must(t, back.CreateSession(t.Context(), storetest.Session("ses_2")))
	must(t, back.AddMessage(t.Context(), &lathe.Message{ID: "msg_2", SessionID: "ses_1", Info: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_2", Body: &lathe.Text{Text: "on"}}}}))
}
