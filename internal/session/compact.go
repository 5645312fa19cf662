package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/compact"
	"lathe/internal/ledger"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// Summarize compacts a session now and returns when that is done. The model is
// the one to ask for the summary; zero means the session's. With auto the model
// goes on with its work afterwards. Nothing changes when it cannot be done.
func (s *Service) Summarize(ctx context.Context, id lathe.SessionID, model lathe.ModelRef, auto bool) error {
	run, err := s.StartSummarize(ctx, id, model, auto)
	if err != nil {
		return err
	}
	out, err := run.Wait(ctx)
	if err == nil && out.Failure != nil {
		return &lathe.Error{Code: failureCode(out.Failure), Msg: "the session could not be compacted", Cause: out.Failure}
	}
	return err
}

func failureCode(f lathe.Failure) lathe.Code {
	switch f.(type) {
	case *lathe.AbortedFailure:
		return lathe.CodeAborted
	case *lathe.AuthFailure:
		return lathe.CodeAuth
	case *lathe.LimitFailure, *lathe.OverflowFailure:
		return lathe.CodeLimit
	}
	return lathe.CodeProvider
}

// StartSummarize begins what [Service.Summarize] does. A session that works
// already is refused as busy.
func (s *Service) StartSummarize(ctx context.Context, id lathe.SessionID, model lathe.ModelRef, auto bool) (*Run, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	if !model.IsZero() {
		if _, err := r.inst.Models.Get(model); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work != nil {
		return nil, lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "session %s is busy", id)
	}
	if r.s.ctx.Err() != nil {
		return nil, context.Cause(r.s.ctx)
	}
	lease, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.changes.DropReverted(ctx); err != nil {
		r.release(ctx, lease)
		return nil, err
	}
	r.asked = &asked{model: model, auto: auto}
	w := newWaiting(nil, Prompt{})
	r.start(lease, w)
	return w.run, nil
}

// asked is a compaction that a user asked for.
type asked struct {
	model lathe.ModelRef
	auto  bool
}

// ledgerDoc are the facts as they were with a summary.
func ledgerDoc(summary lathe.MessageID) store.Document[*ledger.Facts] {
	return store.Document[*ledger.Facts]("ledger:" + string(summary))
}

// turnContext returns how turns of the session keep their history within bounds.
func (r *runner) turnContext(ctx context.Context) *turn.Context {
	w := r.window
	w.Load(ctx)
	conf := r.inst.Config
	_, recall := r.inst.Tools.Lookup("recall")
	return &turn.Context{
		Settings: compact.Settings{
			Auto: conf.CompactAuto(), Prune: conf.PruneOn(), Reserved: conf.Compaction.Reserved, TailTurns: conf.Compaction.TailTurns,
			PreserveRecentTokens: conf.Compaction.PreserveRecentTokens, Prompt: conf.Compaction.Prompt,
		},
		Correction: w.Correction, Facts: r.facts, Compacting: r.compacting, Install: r.install, Pruned: r.pruned,
		Sent: w.Sent, Recall: recall, Root: r.current().Directory,
	}
}

// facts returns the ledger up to the newest summary, with the task list and the
// permissions of now.
func (r *runner) facts(ctx context.Context, newest lathe.MessageID) (*ledger.Facts, error) {
	f := &ledger.Facts{}
	if newest != "" {
		stored, _, err := ledgerDoc(newest).Get(ctx, r.s.opts.Store, r.current().ID)
		if f = stored; err != nil || f == nil {
			if f, err = r.gatherFacts(ctx); err != nil {
				return nil, err
			}
		}
	}
	todos, err := r.s.opts.Store.Todos(ctx, r.current().ID)
	if err != nil {
		return nil, err
	}
	if len(todos) > 0 {
		f.SetTodos(todos)
	}
	f.Allowed = nil
	for _, rule := range r.inst.Permission.Approved() {
		f.Allowed = append(f.Allowed, fmt.Sprintf("always allowed: %s %s", rule.Permission, rule.Pattern))
	}
	return f, nil
}

// gatherFacts makes the ledger from all messages, for a session that was
// compacted by another program.
func (r *runner) gatherFacts(ctx context.Context) (*ledger.Facts, error) {
	all, err := r.s.Messages(ctx, r.current().ID, 0)
	if err != nil {
		return nil, err
	}
	f := &ledger.Facts{}
	f.Add(all)
	return f, nil
}

// compacting notes that a compaction runs, or that it ended without success.
func (r *runner) compacting(ctx context.Context, on bool) error {
	at := time.Time{}
	if on {
		at = r.s.opts.Now()
	}
	_, err := r.s.Update(ctx, r.current().ID, func(s *lathe.Session) error {
		s.Compacting = at
		return nil
	})
	return err
}

// pruned counts a prune and tells of it.
func (r *runner) pruned(_ context.Context, results int, freed int64) {
	r.rec.Publish(lathe.SessionPruned{SessionID: r.current().ID, Results: results, Tokens: freed})
	r.window.Pruned(freed)
}

// install stores a compaction in one transaction: the messages, the boundary, the
// ledger and a system prompt made anew. Messages that arrived while the summary
// was written stay word for word.
func (r *runner) install(ctx context.Context, c *turn.Compacted) ([]lathe.Message, error) {
	fresh := r.window.Renew(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	arrived := r.arrived
	if len(arrived) > 0 {
		keepArrived(c, &arrived[0])
	}
	if c.GoOn != nil {
		c.Continue = c.GoOn(arrived)
	}
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	restore := r.window.Compacted(fresh, c.Continue != nil)
	isNew := c.Ask.Seq == 0
	err := r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		sess, err := r.storeCompaction(tx, c)
		tx.Then(r.window.Broken)
		r.tellCompaction(tx, c, sess)
		return err
	})
	if err != nil {
		restore()
		if isNew {
			c.Ask.Seq = 0
		}
		return nil, fmt.Errorf("store the compaction: %w", err)
	}
	if c.Continue == nil {
		arrived = nil // the next turn answers them
	} else {
		r.arrived = nil
	}
	return arrived, nil
}

// keepArrived makes the tail begin no later than a message that arrived.
func keepArrived(c *turn.Compacted, m *lathe.Message) {
	if c.Tail != nil {
		return
	}
	first := *m
	c.Tail = &first
	for i := range c.Ask.Parts {
		if mark, ok := c.Ask.Parts[i].Body.(*lathe.CompactionMark); ok {
			next := *mark
			next.TailStart = first.ID
			c.Ask.Parts[i].Body = &next
		}
	}
}

func (r *runner) storeCompaction(tx store.Tx, c *turn.Compacted) (sess lathe.Session, err error) {
	if c.Ask.Seq == 0 {
		err = tx.AddMessage(&c.Ask)
	} else {
		for i := range c.Ask.Parts {
			err = errors.Join(err, tx.PutPart(&c.Ask.Parts[i]))
		}
	}
	if err == nil {
		err = tx.AddMessage(&c.Summary)
	}
	boundary := c.Ask.Seq
	if c.Tail != nil && c.Tail.Seq < boundary {
		boundary = c.Tail.Seq
	}
	if err == nil {
		err = tx.SetBoundary(r.current().ID, boundary)
	}
	if err == nil && c.Continue != nil {
		err = tx.AddMessage(c.Continue)
	}
	if err == nil {
		err = ledgerDoc(c.Summary.ID).Set(tx, r.current().ID, c.Facts)
	}
	if err == nil {
		err = errors.Join(r.window.SaveFrozen(tx), r.window.Save(tx))
	}
	if err != nil {
		return sess, err
	}
	return tx.UpdateSession(r.current().ID, func(s *lathe.Session) error {
		s.Compacting = time.Time{}
		s.Cost += c.Cost
		s.Tokens = s.Tokens.Add(c.Tokens)
		return nil
	})
}

// tellCompaction tells of a compaction.
func (r *runner) tellCompaction(tx *commit.Tx, c *turn.Compacted, sess lathe.Session) {
	for _, m := range []*lathe.Message{&c.Ask, &c.Summary, c.Continue} {
		if m != nil {
			tx.Tell(r.rec.dir, added(m)...)
		}
	}
	tx.Tell(r.rec.dir, lathe.SessionUpdated{Session: sess}, lathe.SessionCompacted{SessionID: r.current().ID})
}

// takeAsked returns the compaction that this run begins with.
func (r *runner) takeAsked() *asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.asked
	r.asked = nil
	return a
}

// apply makes a turn begin with the compaction that was asked for.
func (a *asked) apply(t *turn.Turn) {
	if a == nil {
		return
	}
	t.Compact = &turn.CompactNow{Model: a.model, Auto: a.auto}
}
