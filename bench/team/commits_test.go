//go:build linux

package team

import (
	"fmt"
	"syscall"
	"testing"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// BenchmarkCommits is the five commits of a step, without anything else that a server does: what
// they take of its processor, and how often it waits for something. Unlike their time, both are
// much the same on a busy machine.
func BenchmarkCommits(b *testing.B) {
	db, err := postgres.Open(b.Context(), postgres.Options{URL: pgtest.Start(b).URL()})
	must(b, err)
	defer func() { _ = db.Close() }()
	s := storetest.Store{Store: db.Store()}
	const ses = "ses_1"
	must(b, s.CreateSession(b.Context(), storetest.Session(ses)))
	_, err = s.Acquire(b.Context(), ses, db.Self())
	must(b, err)
	tell := store.Fact{Directory: "/p", Event: lathe.SessionStatus{SessionID: ses, Status: lathe.Busy{}}}
	commit := func(change func(store.Tx) error, facts ...store.Fact) {
		must(b, s.Batch(b.Context(), func(tx store.Tx) error {
			if err := change(tx); err != nil {
				return err
			}
			return tx.(store.Noter).Note(&store.Noted{Facts: facts})
		}))
	}
	step := func(i int) {
		m := &lathe.Message{ID: lathe.MessageID(fmt.Sprint("msg_", i)), SessionID: ses, Info: &lathe.Assistant{}}
		part := func(name string, body lathe.PartBody) lathe.Part {
			return lathe.Part{ID: lathe.PartID(fmt.Sprint("prt_", i, name)), MessageID: m.ID, SessionID: ses, Body: body}
		}
		call := part("b", &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`)}})
		last := part("c", &lathe.StepFinish{})
		m.Parts = []lathe.Part{part("a", &lathe.StepStart{})}
		commit(func(tx store.Tx) error { return tx.AddMessage(m) }, tell, tell, tell)
		for range 3 {
			commit(func(tx store.Tx) error { return tx.PutPart(&call) }, tell)
		}
		commit(func(tx store.Tx) error {
			if _, err := tx.UpdateSession(ses, func(s *lathe.Session) error { s.Cost++; return nil }); err != nil {
				return err
			}
			if err := tx.SetValue(ses, "window", []byte(`{}`)); err != nil {
				return err
			}
			if err := tx.PutPart(&last); err != nil {
				return err
			}
			return tx.UpdateMessage(m)
		}, tell, tell, tell)
	}
	n := 0
	for range 200 { // statements are prepared, and the pool is warm
		step(n)
		n++
	}
	var before, after syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	for b.Loop() {
		for range 1000 {
			step(n)
			n++
		}
	}
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	per := float64(n - 200)
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/per/1e6, "cpu-ms/step")
	b.ReportMetric(float64(after.Nvcsw-before.Nvcsw)/per, "switches/step")
}
