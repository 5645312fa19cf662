package cli

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/opencode/disk"
	"lathe/internal/session"
)

// importReport says what an import did: in sum, and of each session what was
// read and what is stored now, by number and by hash.
type importReport struct {
	sessions, messages, parts, problems int
	failed                              int // sessions that could not be stored
	outcomes                            map[session.Imported]int
	differ                              []lathe.SessionID
	lines                               io.Writer // nil: sessions are not listed
	dry                                 bool

	seed maphash.Seed
	seen map[uint64]bool // answers, by what tells them apart
}

// importAll takes in OpenCode's sessions, then compares what is stored with what
// was read.
func importAll(ctx context.Context, env *Env, a *app, dir string, o importOptions) (err error) {
	rep := importReport{outcomes: map[session.Imported]int{}, dry: o.dry, seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	if o.report != "" {
		f, err := newFile(env, o.report)
		if err != nil {
			return err
		}
		defer func() {
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
		}()
		rep.lines = f
		fmt.Fprintln(f, "session\toutcome\tmessages\tparts\tread\tstored")
	}
	for r, err := range disk.Read(ctx, dir) {
		if err != nil {
			return err
		}
		for _, p := range r.Problems {
			rep.problems++
			fmt.Fprintf(env.Stderr, "lathe: left out: %s\n", clean(p))
		}
		if r.Session.ID == "" {
			continue
		}
		err := rep.take(ctx, a, r)
		if code := lathe.CodeOf(err); ctx.Err() != nil || code == lathe.CodeFull || code == lathe.CodeReadOnly {
			return err
		}
		if err != nil { // nothing of this one is stored; the others are
			rep.failed++
			fmt.Fprintf(env.Stderr, "lathe: left out: %s\n", clean(err.Error()))
		}
	}
	return rep.print(env)
}

// newFile makes a file that must not exist.
func newFile(env *Env, path string) (*os.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "name another file", "%v", err)
	}
	return f, nil
}

func (rep *importReport) print(env *Env) error {
	fmt.Fprintf(env.Stdout, "read: %d sessions, %d messages, %d parts; %d pieces could not be read\n", rep.sessions, rep.messages, rep.parts, rep.problems)
	if rep.dry {
		return nil
	}
	fmt.Fprintf(env.Stdout, "stored: %d added, %d updated, %d the same as before, %d kept since they went on here\n",
		rep.outcomes[session.ImportAdded], rep.outcomes[session.ImportUpdated], rep.outcomes[session.ImportSame], rep.outcomes[session.ImportKept])
	if rep.failed > 0 {
		return fmt.Errorf("%d sessions could not be stored; what is said above of each tells why", rep.failed)
	}
	if len(rep.differ) > 0 {
		return fmt.Errorf("%d sessions differ from what was read, the first is %s", len(rep.differ), rep.differ[0])
	}
	fmt.Fprintln(env.Stdout, "checked: every session that was stored reads back the same, by count and by hash")
	return nil
}

func (rep *importReport) take(ctx context.Context, a *app, r *disk.Record) error {
	rep.sessions++
	rep.messages += len(r.Messages)
	rep.parts += r.Parts()
	hash, err := disk.Hash(r.Messages)
	if err != nil {
		return err
	}
	copied := rep.copied(r.Messages)
	if rep.dry {
		return rep.line(r, "read", hash, "")
	}
	out, err := a.svc.Importer.Add(ctx, session.Import{
		Session: r.Session, Project: r.Project, Messages: r.Messages, Todos: r.Todos, Diffs: r.Diffs, Hash: hash, Copied: copied,
	})
	if err != nil {
		return err
	}
	rep.outcomes[out]++
	stored := hash // a session that is the same as before was compared then
	if out != session.ImportSame {
		have, err := a.svc.Messages(ctx, r.Session.ID, 0)
		if err != nil {
			return err
		}
		if stored, err = disk.Hash(have); err != nil {
			return err
		}
	}
	if stored != hash && out != session.ImportKept {
		rep.differ = append(rep.differ, r.Session.ID)
	}
	return rep.line(r, out, hash, stored)
}

// line lists a session.
func (rep *importReport) line(r *disk.Record, out session.Imported, read, stored string) error {
	if rep.lines == nil {
		return nil
	}
	_, err := fmt.Fprintf(rep.lines, "%s\t%s\t%d\t%d\t%s\t%s\n", r.Session.ID, out, len(r.Messages), r.Parts(), read, stored)
	return err
}

// copied returns how many of a session's first messages are copies: up to the
// last answer that was made at the same moment, by the same model and with the
// same number of tokens as one of a session before. A fork has such answers.
func (rep *importReport) copied(messages []lathe.Message) (n int) {
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
		key := maphash.Comparable(rep.seed, answer{m.Created.UnixMilli(), a.Completed.UnixMilli(), a.Model, a.Tokens})
		if prefix = prefix && rep.seen[key]; prefix {
			n = i + 1
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		rep.seen[key] = true
	}
	return n
}
