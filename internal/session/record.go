package session

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/turn"
)

const (
	// checkpointAfter is how long streamed text may be unsaved.
	checkpointAfter = 90 * time.Millisecond
	// tellAfter is when other servers are told what is unsaved.
	tellAfter = checkpointAfter / 3
	// progressEvery is how often the progress of a running tool is stored before it
	// is published; what comes sooner after that, or after the call was stored as running,
	// is stored at the next checkpoint.
	progressEvery = 30 * time.Millisecond
	// checkpointSize is how much of a text may be unsaved: more text has to wait
	// until that is written.
	checkpointSize = 512 << 10
)

// recorder is the only writer of a session while its turn runs: it stores, then
// publishes, in one order for everybody.
type recorder struct {
	writer *commit.Writer
	teller store.Teller // nil in a store of one machine
	dir    string
	id     lathe.SessionID
	now    func() time.Time
	log    *slog.Logger

	mu       sync.Mutex // held during a commit and during a delta, so that a part's events have one order
	open     map[lathe.PartID]*openText
	timer    *time.Timer
	tells    int // how often others were told what was unsaved, twice for each time that it is saved
	closed   bool
	onStep   func(store.Tx, *lathe.StepFinish) error // stores what a step says about the window; may be nil
	progress map[lathe.PartID]*shown
}

// shown is the progress of a running tool.
type shown struct {
	saved  time.Time
	ahead  *lathe.Part // the newest progress, if it is not stored
	failed bool        // the failure to store it was logged
}

// openText is streamed text that is ahead of the store.
type openText struct {
	saved  int64
	text   []byte
	told   int  // how much of text other servers know
	failed bool // the failure to store it was logged
}

func newRecorder(s *Service, sess lathe.Session) *recorder {
	teller, _ := s.opts.Writer.Streams.(store.Teller)
	return &recorder{
		writer: s.opts.Writer, teller: teller, dir: sess.Directory, id: sess.ID, now: s.opts.Now, log: s.opts.Log,
		open: map[lathe.PartID]*openText{}, progress: map[lathe.PartID]*shown{},
	}
}

// Commit stores the changes in one transaction, then publishes them in order.
func (r *recorder) Commit(ctx context.Context, changes ...turn.Change) error {
	if len(changes) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh, forget := unnumbered(changes)
	err := r.writer.Commit(ctx, func(tx *commit.Tx) error {
		forget() // it may run again
		if err := r.apply(tx, changes); err != nil {
			return err
		}
		for i, c := range changes {
			tx.Tell(r.dir, told(c, fresh[i]))
		}
		return nil
	})
	if err != nil {
		forget()
		return err
	}
	r.settle(changes)
	return nil
}

// settle forgets the streamed text of parts that were stored or removed. The caller
// holds mu.
func (r *recorder) settle(changes []turn.Change) {
	for _, c := range changes {
		p := cmp.Or(c.Part, c.Remove)
		if p == nil {
			continue
		}
		delete(r.open, p.ID)
		delete(r.progress, p.ID)
		if c.Part != nil && isRunning(c.Part) {
			r.progress[p.ID] = &shown{saved: r.now()}
		}
	}
}

func isRunning(p *lathe.Part) bool {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return false
	}
	_, ok = call.State.(*lathe.ToolRunning)
	return ok
}

// unnumbered says which changes are of something new, and returns a function that
// takes their numbers away again: a failed transaction has handed them out in
// vain, and what is retried must not pass for stored.
func unnumbered(changes []turn.Change) (fresh []bool, forget func()) {
	var seqs []*int64
	fresh = make([]bool, len(changes))
	for i, c := range changes {
		switch {
		case c.Message != nil && c.Message.Seq == 0:
			seqs = append(seqs, &c.Message.Seq)
		case c.Part != nil && c.Part.Seq == 0:
			seqs = append(seqs, &c.Part.Seq)
		default:
			continue
		}
		fresh[i] = true
	}
	return fresh, func() {
		for _, n := range seqs {
			*n = 0
		}
	}
}

func (r *recorder) apply(tx store.Tx, changes []turn.Change) error {
	for len(changes) > 0 {
		n, err := addWhole(tx, changes)
		if n == 0 {
			n, err = 1, r.applyOne(tx, changes[0])
		}
		if err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// addWhole adds a new message together with the new parts that follow it, which takes a store
// fewer statements than one by one, and returns how many changes that were.
func addWhole(tx store.Tx, changes []turn.Change) (n int, err error) {
	m := changes[0].Message
	if m == nil || m.Seq != 0 || len(m.Parts) > 0 {
		return 0, nil
	}
	whole := *m
	for n = 1; n < len(changes); n++ {
		p := changes[n].Part
		if p == nil || p.Seq != 0 || p.MessageID != m.ID {
			break
		}
		if _, costs := p.Body.(*lathe.StepFinish); costs {
			break
		}
		whole.Parts = append(whole.Parts, *p)
	}
	if err := tx.AddMessage(&whole); err != nil {
		return n, err
	}
	m.Seq = whole.Seq
	for i := range whole.Parts {
		changes[1+i].Part.Seq = whole.Parts[i].Seq
	}
	return n, nil
}

func (r *recorder) applyOne(tx store.Tx, c turn.Change) error {
	switch {
	case c.Event != nil:
		return nil
	case c.Message != nil && c.Message.Seq == 0:
		return tx.AddMessage(c.Message)
	case c.Message != nil:
		return tx.UpdateMessage(c.Message)
	case c.Remove != nil:
		return tx.RemovePart(c.Remove.ID)
	}
	if fin, ok := c.Part.Body.(*lathe.StepFinish); ok && c.Part.Seq == 0 {
		if err := r.addUsage(tx, fin); err != nil {
			return err
		}
		if r.onStep != nil {
			if err := r.onStep(tx, fin); err != nil {
				return err
			}
		}
	}
	return tx.PutPart(c.Part)
}

// addUsage adds what a step cost to its session.
func (r *recorder) addUsage(tx store.Tx, fin *lathe.StepFinish) error {
	_, err := tx.UpdateSession(r.id, func(s *lathe.Session) error {
		s.Cost += fin.Cost
		s.Tokens = s.Tokens.Add(fin.Tokens)
		return nil
	})
	return err
}

// told returns the event for a change; fresh says that it is of something new.
func told(c turn.Change, fresh bool) lathe.Event {
	switch {
	case c.Event != nil:
		return c.Event
	case c.Message != nil:
		return bare(c.Message)
	case c.Remove != nil:
		return lathe.PartRemoved{SessionID: c.Remove.SessionID, MessageID: c.Remove.MessageID, PartID: c.Remove.ID}
	}
	return lathe.PartUpdated{Part: *c.Part, New: fresh}
}

// bare returns the event for a message, without the parts, which have events of their own.
func bare(m *lathe.Message) lathe.MessageUpdated {
	b := *m
	b.Parts = nil
	return lathe.MessageUpdated{Message: b}
}

// added returns the events for a new message and its parts.
func added(m *lathe.Message) []lathe.Event {
	events := []lathe.Event{bare(m)}
	for _, p := range m.Parts {
		events = append(events, lathe.PartUpdated{Part: p, New: true})
	}
	return events
}

// Delta publishes text appended to an open part and saves it within
// checkpointAfter.
func (r *recorder) Delta(_ context.Context, part *lathe.Part, text string, whole lathe.Streamed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.open[part.ID]
	if o == nil {
		o = &openText{}
		r.open[part.ID] = o
	}
	o.text = append(o.text, text...)
	r.writer.Tell(r.dir, lathe.PartDelta{SessionID: part.SessionID, MessageID: part.MessageID, PartID: part.ID, Delta: text, Whole: whole})
	switch {
	case r.closed:
	case len(o.text) >= checkpointSize && !o.failed:
		r.saveText(part.ID, o)
	case r.timer == nil && r.teller != nil:
		r.timer = time.AfterFunc(tellAfter, r.tellText)
	case r.timer == nil:
		r.timer = time.AfterFunc(checkpointAfter, r.checkpoint)
	}
}

// tellText tells other servers what is unsaved, which is stored a little later.
func (r *recorder) tellText() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if r.closed {
		return
	}
	for id, o := range r.open {
		if len(o.text) > o.told && !o.failed {
			r.teller.TellText(context.Background(), id, o.saved+int64(o.told), string(o.text[o.told:]))
			o.told = len(o.text)
		}
	}
	if r.tells++; r.tells%2 == 0 {
		r.timer = time.AfterFunc(tellAfter, r.checkpoint)
	} else {
		r.timer = time.AfterFunc(tellAfter, r.tellText)
	}
}

// checkpoint appends streamed text to the store, and the progress of tools.
func (r *recorder) checkpoint() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if r.closed {
		return
	}
	for id, o := range r.open {
		if len(o.text) > 0 {
			r.saveText(id, o)
		}
	}
	for _, p := range r.progress {
		r.saveProgress(p)
	}
}

// saveText appends the streamed text to the stored text. The caller holds mu.
func (r *recorder) saveText(id lathe.PartID, o *openText) {
	err := r.writer.AppendText(context.Background(), id, o.saved, string(o.text))
	if err != nil && !o.failed {
		r.log.Error("streamed text could not be saved; it is kept until the part ends", "session", r.id, "part", id, "err", err)
	}
	if o.failed = err != nil; o.failed {
		return
	}
	o.saved += int64(len(o.text))
	o.text, o.told = o.text[:0], 0
}

// Progress stores what a running tool call shows, and publishes it. Like
// streamed text, it survives the end of the process.
func (r *recorder) Progress(part lathe.Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.progress[part.ID]
	if p == nil {
		p = &shown{}
		r.progress[part.ID] = p
	}
	p.ahead = &part
	if r.now().Sub(p.saved) >= progressEvery {
		r.saveProgress(p)
	} else if r.timer == nil && !r.closed {
		r.timer = time.AfterFunc(checkpointAfter, r.checkpoint)
	}
	r.writer.Tell(r.dir, lathe.PartUpdated{Part: part})
}

// saveProgress stores progress that is ahead of the store. The caller holds mu.
func (r *recorder) saveProgress(p *shown) {
	if p.ahead == nil {
		return
	}
	err := r.writer.SaveProgress(context.Background(), p.ahead)
	if err != nil && !p.failed {
		r.log.Warn("what a tool shows could not be saved; it is stored when the tool ends", "session", r.id, "part", p.ahead.ID, "err", err)
	}
	p.failed = err != nil
	p.saved, p.ahead = r.now(), nil
}

// Publish publishes what is not stored.
func (r *recorder) Publish(ev lathe.Event) { r.writer.Tell(r.dir, ev) }

// close stops the checkpoints. The turn has ended, so every part is closed.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

var _ turn.Log = (*recorder)(nil)
