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
	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/turn"
	"lathe/internal/window"
)

// Summarize compacts a session now and returns when that is done. The model writes the summary;
// zero means the session's model. With auto the model goes on with its work afterwards. If it
// cannot be done, nothing changes.
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

// StartSummarize begins what [Service.Summarize] does. A session that is already working is refused
// as busy.
func (s *Service) StartSummarize(ctx context.Context, id lathe.SessionID, model lathe.ModelRef, auto bool) (*Run, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	if !model.IsZero() {
		if _, err := r.inst.Models.GetFor(ctx, model); err != nil {
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
	r.asked = &asked{model: model, auto: auto, by: people.From(ctx)}
	w := newWaiting(nil, Prompt{})
	r.start(lease, w)
	return w.run, nil
}

// asked is a compaction that a user asked for.
type asked struct {
	model lathe.ModelRef
	auto  bool
	by    string
}

// ledgerDoc stores the facts as they were when a summary was made.
func ledgerDoc(summary lathe.MessageID) store.Document[*ledger.Facts] {
	return store.Document[*ledger.Facts]("ledger:" + string(summary))
}

// turnContext returns how the session's turns keep their history within bounds.
func (r *runner) turnContext(ctx context.Context) *turn.Context {
	w, c := r.window, &compactions{r}
	w.Load(ctx)
	conf := r.inst.Config
	_, recall := r.inst.Tools.Lookup("recall")
	return &turn.Context{
		Settings: compact.Settings{
			Auto: conf.CompactAuto(), Prune: conf.PruneOn(), Reserved: conf.Compaction.Reserved, TailTurns: conf.Compaction.TailTurns,
			PreserveRecentTokens: conf.Compaction.PreserveRecentTokens, Prompt: conf.Compaction.Prompt,
		},
		Correction: w.Correction, Facts: c.facts, Compacting: c.compacting, Install: c.install, Pruned: c.pruned,
		Sent: r.sent, Recall: recall, Root: r.current().Directory,
	}
}

// compactions does what turns cannot do for their own compactions: it knows the ledger and stores
// the result.
type compactions struct{ r *runner }

// facts returns the ledger up to the newest summary, with the current task list and permissions.
func (c *compactions) facts(ctx context.Context, newest lathe.MessageID) (*ledger.Facts, error) {
	f := &ledger.Facts{}
	if newest != "" {
		stored, _, err := ledgerDoc(newest).Get(ctx, c.r.s.opts.Store, c.r.current().ID)
		if f = stored; err != nil || f == nil {
			if f, err = c.gatherFacts(ctx); err != nil {
				return nil, err
			}
		}
	}
	todos, err := c.r.s.opts.Store.Todos(ctx, c.r.current().ID)
	if err != nil {
		return nil, err
	}
	if len(todos) > 0 {
		f.SetTodos(todos)
	}
	f.Allowed = nil
	for _, rule := range c.r.inst.Permission.Approved() {
		f.Allowed = append(f.Allowed, fmt.Sprintf("always allowed: %s %s", rule.Permission, rule.Pattern))
	}
	return f, nil
}

// gatherFacts makes the ledger from all messages, for a session that another program compacted.
func (c *compactions) gatherFacts(ctx context.Context) (*ledger.Facts, error) {
	all, err := c.r.s.Messages(ctx, c.r.current().ID, 0)
	if err != nil {
		return nil, err
	}
	f := &ledger.Facts{}
	f.Add(all)
	return f, nil
}

// compacting records that a compaction is running, or that it ended without success.
func (c *compactions) compacting(ctx context.Context, on bool) error {
	at := time.Time{}
	if on {
		at = c.r.s.opts.Now()
	}
	_, err := c.r.s.Update(ctx, c.r.current().ID, func(s *lathe.Session) error {
		s.Compacting = at
		return nil
	})
	return err
}

// pruned counts a prune and publishes it.
func (c *compactions) pruned(_ context.Context, results int, freed int64) {
	c.r.rec.Publish(lathe.SessionPruned{SessionID: c.r.current().ID, Results: results, Tokens: freed})
	c.r.window.Pruned(freed)
}

// mostInstalls is how often a compaction is stored at most while the store comes and goes.
const mostInstalls = 5

// install stores a compaction in one transaction: the messages, the boundary, the ledger and a
// newly made system prompt. Messages that arrived while the summary was being written stay word for
// word.
func (c *compactions) install(ctx context.Context, out *turn.Compacted) ([]lathe.Message, error) {
	fresh := c.r.window.Renew(ctx)
	for run := 1; ; run++ {
		arrived, err := c.tryInstall(store.Hasty(ctx), out, fresh)
		if _, patient := store.Patience(ctx); !patient || !errors.Is(err, store.ErrAway) || run == mostInstalls {
			return arrived, err
		}
		// The summary was paid for. It is waited without the session's lock, which stopping it takes.
		if _, err := c.r.s.opts.Store.Session(ctx, c.r.current().ID); err != nil {
			return nil, fmt.Errorf("store the compaction: %w", err)
		}
	}
}

func (c *compactions) tryInstall(ctx context.Context, out *turn.Compacted, fresh window.Frozen) ([]lathe.Message, error) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	arrived := c.r.arrived
	if len(arrived) > 0 {
		keepArrived(out, &arrived[0])
	}
	if out.GoOn != nil {
		out.Continue = out.GoOn(arrived)
	}
	c.r.rec.mu.Lock()
	defer c.r.rec.mu.Unlock()
	restore := c.r.window.Compacted(fresh, out.Continue != nil)
	isNew := out.Ask.Seq == 0
	err := c.r.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if isNew {
			out.Ask.Seq = 0 // it may run again
		}
		sess, err := c.storeCompaction(tx, out)
		tx.Then(c.r.window.Broken)
		c.tellCompaction(tx, out, sess)
		return err
	})
	if err != nil {
		restore()
		if isNew {
			out.Ask.Seq = 0
		}
		return nil, fmt.Errorf("store the compaction: %w", err)
	}
	if out.Continue == nil {
		arrived = nil // the next turn answers them
	} else {
		c.r.arrived = nil
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

func (c *compactions) storeCompaction(tx store.Tx, out *turn.Compacted) (sess lathe.Session, err error) {
	if out.Ask.Seq == 0 {
		err = tx.AddMessage(&out.Ask)
	} else {
		for i := range out.Ask.Parts {
			err = errors.Join(err, tx.PutPart(&out.Ask.Parts[i]))
		}
	}
	if err == nil {
		err = tx.AddMessage(&out.Summary)
	}
	boundary := out.Ask.Seq
	if out.Tail != nil && out.Tail.Seq < boundary {
		boundary = out.Tail.Seq
	}
	if err == nil {
		err = tx.SetBoundary(c.r.current().ID, boundary)
	}
	if err == nil && out.Continue != nil {
		err = tx.AddMessage(out.Continue)
	}
	if err == nil {
		err = ledgerDoc(out.Summary.ID).Set(tx, c.r.current().ID, out.Facts)
	}
	if err == nil {
		err = errors.Join(c.r.window.SaveCompacted(tx, out.Summary.ID), c.r.window.Save(tx))
	}
	if err != nil {
		return sess, err
	}
	return tx.UpdateSession(c.r.current().ID, func(s *lathe.Session) error {
		s.Compacting = time.Time{}
		s.Cost += out.Cost
		s.Tokens = s.Tokens.Add(out.Tokens)
		return nil
	})
}

// tellCompaction publishes a compaction.
func (c *compactions) tellCompaction(tx *commit.Tx, out *turn.Compacted, sess lathe.Session) {
	for _, m := range []*lathe.Message{&out.Ask, &out.Summary, out.Continue} {
		if m != nil {
			tx.Tell(c.r.rec.dir, added(m)...)
		}
	}
	tx.Tell(c.r.rec.dir, lathe.SessionUpdated{Session: sess}, lathe.SessionCompacted{SessionID: c.r.current().ID})
}

// takeAsked returns the compaction that this run begins with, if any, and clears it.
func (r *runner) takeAsked() *asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.asked
	r.asked = nil
	return a
}

// apply makes a turn begin with the requested compaction.
func (a *asked) apply(t *turn.Turn) {
	if a == nil {
		return
	}
	t.Compact = &turn.CompactNow{Model: a.model, Auto: a.auto, By: a.by}
}
