package session

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/snapshot"
	"lathe/internal/store"
	"lathe/internal/undo"
)

// ForkInput says what a fork takes along.
type ForkInput struct {
	// MessageID is the first message that is left out; empty copies all.
	MessageID lathe.MessageID
	// Files says to take the files of the worktree back to that point too.
	Files bool
	Title string // empty: the session's, numbered
}

// Forked is a new session, and what became of the files if they were asked for.
type Forked struct {
	Session   lathe.Session
	Files     []string
	Conflicts []snapshot.Conflict
}

// Fork makes a session that begins with the messages of another, which stays as
// it is. A revert of the other session is not carried over; the messages it
// hides are left out.
func (s *Service) Fork(ctx context.Context, id lathe.SessionID, in ForkInput) (out Forked, err error) {
	sess, err := s.Get(ctx, id)
	if err != nil {
		return out, err
	}
	messages, err := s.Messages(ctx, id, 0)
	if err != nil {
		return out, err
	}
	until, err := forkPoint(messages, sess, in.MessageID)
	if err != nil {
		return out, err
	}
	if in.Title == "" {
		in.Title = forkTitle(sess.Title)
	}
	now := s.opts.Now()
	fork := lathe.Session{
		ID: s.opts.IDs.Session(), Slug: newSlug(), ProjectID: sess.ProjectID, Directory: sess.Directory, Title: in.Title,
		Version: lathe.Version, Created: now, Updated: now, Rules: sess.Rules, Agent: sess.Agent, Model: sess.Model,
	}
	for _, m := range messages[:until] {
		if a, ok := m.Info.(*lathe.Assistant); ok {
			fork.Cost += a.Cost
			fork.Tokens = fork.Tokens.Add(a.Tokens)
		}
	}
	diffs, err := s.Diffs.first(ctx, sess, messages, until)
	if err != nil {
		return out, err
	}
	fork.Summary = undo.Summary(diffs)
	boundary, outputs := boundaryOf(ctx, s.opts.Store, id), []byte(outputsOf(ctx, s.opts.Store, sess))
	err = s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if err := copyMessages(s.opts.IDs, tx, fork, messages[:until], diffs, boundary); err != nil {
			return err
		}
		if err := tx.SetValue(fork.ID, outputsKey, outputs); err != nil {
			return err
		}
		// An answer that never ended, because of another program or a crash, ends in the copy.
		_, err := tx.Recover(fork.ID, s.opts.Owner)
		tx.Tell(fork.Directory, lathe.SessionCreated{Session: fork}, lathe.SessionUpdated{Session: fork})
		return err
	})
	if err != nil {
		return out, fmt.Errorf("fork session %s: %w", id, err)
	}
	out.Session = fork
	if in.Files {
		err = s.alone(ctx, id, func(r *runner, _ lathe.Session) error {
			applied, err := r.changes.Rewind(ctx, fork.ID, messages[until:])
			out.Files, out.Conflicts = applied.Changed, applied.Conflicts
			return err
		})
	}
	return out, err
}

// forkPoint returns the number of messages that a fork copies.
func forkPoint(messages []lathe.Message, sess lathe.Session, before lathe.MessageID) (int, error) {
	end := before
	if before == "" && sess.Revert != nil {
		end = sess.Revert.MessageID
	}
	until := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == end })
	switch {
	case until < 0 && before != "":
		return 0, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session show", "the session has no message %q", before)
	case until < 0:
		until = len(messages)
	}
	return settled(messages[:until]), nil
}

// settled returns how many of the messages come before the answer that is being
// made right now, if there is one. Questions asked after it wait for their
// turn.
func settled(messages []lathe.Message) int {
	for i, m := range slices.Backward(messages) {
		a, ok := m.Info.(*lathe.Assistant)
		switch {
		case ok && a.Completed.IsZero():
			return settled(messages[:i])
		case ok:
			return len(messages)
		}
	}
	return len(messages)
}

// boundaryOf returns where the live tail of a session starts, or 0.
func boundaryOf(ctx context.Context, kept *store.Store, id lathe.SessionID) int64 {
	tail, err := kept.Tail(ctx, id)
	if err != nil || len(tail) == 0 {
		return 0
	}
	return tail[0].Seq
}

// copyMessages stores the fork with copies of the messages, which get new identifiers.
func copyMessages(fresh *lathe.IDs, tx store.Tx, fork lathe.Session, messages []lathe.Message, diffs []lathe.FileDiff, boundary int64) error {
	ids := make(map[lathe.MessageID]lathe.MessageID, len(messages))
	for _, m := range messages {
		ids[m.ID] = fresh.Message()
	}
	if err := tx.CreateSession(fork); err != nil {
		return err
	}
	if err := tx.SetDiffs(fork.ID, "", diffs); err != nil {
		return err
	}
	var tail, last int64
	summarised := false
	for _, m := range messages {
		old := m.Seq
		c := copyMessage(fresh, m, fork.ID, ids)
		if a, ok := c.Info.(*lathe.Assistant); ok {
			summarised = summarised || a.Summary
		}
		if err := tx.AddMessage(&c); err != nil {
			return err
		}
		if last = c.Seq; old == boundary {
			tail = last
		}
	}
	if err := tx.SetCopied(fork.ID, last); err != nil {
		return err
	}
	if tail > 1 && summarised {
		if err := tx.SetBoundary(fork.ID, tail); err != nil {
			return err
		}
	}
	return undo.Copy(tx, fork.ID, messages)
}

// copyMessage returns a message for another session. Ids maps the old identifiers
// of all copied messages to the new ones.
func copyMessage(fresh *lathe.IDs, m lathe.Message, session lathe.SessionID, ids map[lathe.MessageID]lathe.MessageID) lathe.Message {
	c := lathe.Message{ID: ids[m.ID], SessionID: session, Created: m.Created, Info: m.Info}
	if a, ok := m.Info.(*lathe.Assistant); ok {
		copied := *a
		copied.ParentID = ids[a.ParentID]
		c.Info = &copied
	}
	for _, p := range m.Parts {
		body := p.Body
		if mark, ok := body.(*lathe.CompactionMark); ok && mark.TailStart != "" {
			copied := *mark
			copied.TailStart = ids[mark.TailStart]
			body = &copied
		}
		c.Parts = append(c.Parts, lathe.Part{ID: fresh.Part(), MessageID: c.ID, SessionID: session, Body: body})
	}
	return c
}

var forkNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*) \(fork #(\d{1,6})\)$`) })

// forkTitle adds or counts up the number at the end of a title.
func forkTitle(title string) string {
	m := forkNumber().FindStringSubmatch(title)
	if m == nil {
		return title + " (fork #1)"
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return title + " (fork #1)"
	}
	return fmt.Sprintf("%s (fork #%d)", m[1], n+1)
}
