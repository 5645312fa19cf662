package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/store"
)

// stepCost compares a turn of one step in a session with many messages, compacted
// once, with one in a new session.
func stepCost(ctx context.Context, n int) error {
	base, err := os.MkdirTemp("", "lathe-context-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	m := &model{dir: filepath.Join(base, "repo"), opts: Options{Window: 200_000, Summary: summaries[1].text}}
	svc, closeAll, err := m.open(ctx, base)
	if err != nil {
		return err
	}
	defer closeAll()
	var ids [2]lathe.SessionID
	for i := range ids {
		sess, err := svc.Create(ctx, session.Create{Directory: m.dir, Title: "rig"})
		if err != nil {
			return err
		}
		ids[i] = sess.ID
	}
	if err := fillSession(ctx, m.store, ids[1], n); err != nil {
		return err
	}
	if err := svc.Summarize(ctx, ids[1], lathe.ModelRef{}, false); err != nil {
		return err
	}
	fresh, err := turns(ctx, m, svc, ids[0])
	if err != nil {
		return err
	}
	long, err := turns(ctx, m, svc, ids[1])
	if err != nil {
		return err
	}
	fmt.Printf("a turn of one step: %.2f ms in a new session, %.2f ms after %d messages (%.2f times)\n\n",
		ms(fresh), ms(long), n, float64(long)/float64(fresh))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fillSession stores n messages, half of them the user's.
func fillSession(ctx context.Context, s *store.Store, id lathe.SessionID, n int) error {
	ref := lathe.ModelRef{Provider: "script", Model: "rig"}
	for at := 0; at < n; at += 500 {
		err := s.Batch(ctx, func(tx store.Tx) error {
			for i := at; i < min(n, at+500); i++ {
				msg := lathe.Message{
					ID: lathe.MessageID(fmt.Sprintf("msg_rig%d", i)), SessionID: id, Created: time.Unix(int64(i), 0),
					Parts: []lathe.Part{{ID: lathe.PartID(fmt.Sprintf("prt_rig%d", i)), Body: &lathe.Text{Text: fmt.Sprintf("message %d: %s", i, strings.Repeat("the work goes on as it was agreed. ", 6))}}},
					Info:  &lathe.User{Agent: "build", Model: ref},
				}
				if i%2 == 1 {
					msg.Info = &lathe.Assistant{Agent: "build", Model: ref, Finish: lathe.FinishStop, Completed: msg.Created}
				}
				if err := tx.AddMessage(&msg); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// turns returns the median time of a turn.
func turns(ctx context.Context, m *model, svc *session.Service, id lathe.SessionID) (time.Duration, error) {
	var all []time.Duration
	for n := range 30 {
		start := time.Now()
		if err := m.turn(ctx, svc, id, n); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
