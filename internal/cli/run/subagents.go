package run

import (
	"context"
	"fmt"

	"lathe"
	"lathe/internal/say"
)

// beside is what a run knows of the subagents that work in the background for it.
type beside struct {
	told   int             // how many it was said to wait for
	newest lathe.MessageID // the newest message that the session was sent
	seen   lathe.MessageID // the newest of its messages that was told of whole
	cut    bool            // the run was stopped while it waited
	used   bool            // a subagent was, or may have been, called
}

func (b *beside) saw(p lathe.Part) {
	if call, ok := p.Body.(*lathe.ToolCall); ok && call.Tool == "task" {
		b.used = true
	}
}

// read takes a message of the session that was told of. An answer counts when it is
// complete: what belongs to it is told of before that.
func (b *beside) read(m lathe.Message) {
	if answer, ok := m.Info.(*lathe.Assistant); ok && answer.Completed.IsZero() && answer.Error == nil {
		return
	}
	b.seen = max(b.seen, m.ID)
}

// asksForUs reports whether an event is an ask of a subagent that works for the run in a
// directory of its own, whose other events are not seen here.
func (v *view) asksForUs(ctx context.Context, ev lathe.Event) bool {
	switch ev.(type) {
	case lathe.PermissionAsked, lathe.QuestionAsked:
	default:
		return false
	}
	const deepest = 32
	id := lathe.SessionOf(ev)
	for range deepest {
		sess, err := v.c.Get(context.WithoutCancel(ctx), id)
		if err != nil || sess.ParentID == "" {
			return false
		}
		if v.family[sess.ParentID] {
			v.family[lathe.SessionOf(ev)] = true
			return true
		}
		id = sess.ParentID
	}
	return false
}

// awaitsHelpers reports whether subagents still work for the session, now that it is
// idle: the run goes on until they have reported.
func (v *view) awaitsHelpers(ctx context.Context) bool {
	if ctx.Err() != nil {
		v.beside.cut = v.beside.told > 0
		return false
	}
	if !v.beside.used {
		return false
	}
	tree, err := v.c.Tree(context.WithoutCancel(ctx), v.root.ID)
	if err != nil {
		return false
	}
	n := tree.Beside()
	if n > 0 && n != v.beside.told {
		v.out.Notice(fmt.Sprintf("waiting for %s in the background", say.Plural(n, "subagent")))
	}
	v.beside.told = n
	return n > 0 || tree.State == "working" || v.hasMore(ctx)
}

// hasMore reports whether the session has a message that was not told of whole yet: a report
// may begin a turn, and that turn may end, before the events of it are read here.
func (v *view) hasMore(ctx context.Context) bool {
	newest, err := v.c.History(context.WithoutCancel(ctx), v.root.ID, 0, 1)
	return err == nil && len(newest) > 0 && newest[0].ID > v.beside.seen
}

// helperEnded reports whether the run is over, after the session was told to have changed
// while it waited: a report that could not be handed over begins no turn.
func (v *view) helperEnded(ctx context.Context) bool {
	return v.beside.told > 0 && !v.awaitsHelpers(ctx)
}

// lastAsked returns the message whose answer ends the run.
func (v *view) lastAsked() lathe.MessageID {
	if v.beside.newest != "" {
		return v.beside.newest
	}
	return v.sent
}
