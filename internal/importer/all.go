package importer

import (
	"context"
	"hash/maphash"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/disk"
	"lathe/internal/session"
)

// taking is an import of all that OpenCode stored.
type taking struct {
	Importer
	dry  bool
	tell func(api.ImportNews) error
	sum  api.ImportSum

	seed maphash.Seed
	seen map[uint64]bool // answers, by what tells them apart
}

// all takes in OpenCode's sessions, then compares what is stored with what was read.
func (i Importer) all(ctx context.Context, dir string, dry bool, tell func(api.ImportNews) error) error {
	t := &taking{Importer: i, dry: dry, tell: tell, sum: api.ImportSum{Outcomes: map[string]int{}}, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	for r, err := range disk.Read(ctx, dir) {
		if err != nil {
			return err
		}
		if err := t.record(ctx, r); err != nil {
			return err
		}
	}
	return tell(api.ImportNews{Sum: &t.sum})
}

// record takes in a session and publishes it. One that cannot be stored is left out,
// unless nothing can be stored any more.
func (t *taking) record(ctx context.Context, r *disk.Record) error {
	for _, p := range r.Problems {
		t.sum.Problems++
		if err := t.tell(api.ImportNews{LeftOut: p}); err != nil {
			return err
		}
	}
	if r.Session.ID == "" {
		return nil
	}
	one, err := t.take(ctx, r)
	if code := lathe.CodeOf(err); ctx.Err() != nil || code == lathe.CodeFull || code == lathe.CodeReadOnly {
		return err
	}
	t.sum.Sessions++
	t.sum.Messages += one.Messages
	t.sum.Parts += one.Parts
	if err != nil { // nothing of this one is stored; the others are
		one.Outcome, one.Stored = api.ImportFailed, ""
		if err := t.tell(api.ImportNews{LeftOut: err.Error()}); err != nil {
			return err
		}
	}
	t.sum.Outcomes[one.Outcome]++
	return t.tell(api.ImportNews{Session: &one})
}

func (t *taking) take(ctx context.Context, r *disk.Record) (one api.ImportedSession, err error) {
	one = api.ImportedSession{ID: r.Session.ID, Outcome: api.ImportRead, Messages: len(r.Messages), Parts: r.Parts()}
	if one.Read, err = disk.Hash(r.Messages); err != nil {
		return one, err
	}
	copied := t.copied(r.Messages)
	if t.dry {
		return one, nil
	}
	out, err := t.Service.Importer.Add(ctx, session.Import{
		Session: r.Session, Project: r.Project, Messages: r.Messages, Todos: r.Todos, Diffs: r.Diffs, Hash: one.Read, Copied: copied,
	})
	if err != nil {
		return one, err
	}
	one.Outcome, one.Stored = string(out), one.Read // a session that is the same as before was compared then
	if out == session.ImportSame {
		return one, nil
	}
	have, err := t.Service.Messages(ctx, r.Session.ID, 0)
	if err != nil {
		return one, err
	}
	if one.Stored, err = disk.Hash(have); err != nil {
		return one, err
	}
	if one.Stored != one.Read && out != session.ImportKept {
		t.sum.Differ = append(t.sum.Differ, r.Session.ID)
	}
	return one, nil
}

// copied returns how many of a session's first messages are copies: up to the
// last answer that was made at the same moment, by the same model and with the
// same number of tokens as one of a session before. A fork has such answers.
func (t *taking) copied(messages []lathe.Message) (n int) {
	type answer struct {
		created, completed int64
		model              lathe.ModelRef
		tokens             lathe.Tokens
	}
	var keys []uint64
	prefix := true
	for i, m := range messages {
		a, ok := m.Info.(*lathe.Assistant)
		if !ok {
			continue
		}
		key := maphash.Comparable(t.seed, answer{m.Created.UnixMilli(), a.Completed.UnixMilli(), a.Model, a.Tokens})
		if prefix = prefix && t.seen[key]; prefix {
			n = i + 1
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		t.seen[key] = true
	}
	return n
}
