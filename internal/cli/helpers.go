package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
)

// beside is what a run knows of the subagents that work in the background for it.
type beside struct {
	told   int             // how many it was said to wait for
	newest lathe.MessageID // the newest message that the session was sent
	seen   lathe.MessageID // the newest of its messages that was told of
	cut    bool            // the run was stopped while it waited
	used   bool            // a subagent was, or may have been, called
}

func (b *beside) saw(p lathe.Part) {
	if call, ok := p.Body.(*lathe.ToolCall); ok && call.Tool == "task" {
		b.used = true
	}
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
		v.out.notice(fmt.Sprintf("waiting for %s in the background", several(n, "subagent")))
	}
	v.beside.told = n
	return n > 0 || tree.State == "working" || v.hasMore(ctx)
}

// hasMore reports whether the session has a message that was not told of yet: a report
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

func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func newSessionTree(env *Env) *cobra.Command {
	var format string
	cmd := onLastUsed(env, &cobra.Command{
		Use: "tree [id]", Short: "Show a session and the subagents that work for it",
		Long: "Tree shows a session (the one used last here, unless its id is given) with the subagents below it: what each\n" +
			"does, what it has cost, and the branch of those that have a worktree of their own. To stop them all, stop the\n" +
			"session (esc in the screen, ctrl-C in lathe run); one alone is stopped in its own view in the screen.",
	}, func(ctx context.Context, f *face, sess lathe.Session) error {
		if format != "table" && format != "json" {
			return usageError{fmt.Errorf("--format %q is neither table nor json", format)}
		}
		tree, err := f.Tree(ctx, sess.ID)
		if err != nil {
			return err
		}
		if format == "json" {
			return printJSON(env, tree)
		}
		printTree(env, tree, 0)
		return nil
	})
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return cmd
}

func printTree(env *Env, h api.Helper, depth int) {
	notes := []string{h.State}
	if h.Background {
		notes = append(notes, "background")
	}
	if h.Branch != "" {
		notes = append(notes, "branch "+clean(h.Branch))
	}
	took := time.UnixMilli(h.Updated).Sub(time.UnixMilli(h.Created)).Round(time.Second)
	fmt.Fprintf(env.Stdout, "%s%s  %s  %s, %d tokens, %s  (%s)\n", strings.Repeat("  ", depth), h.ID, oneLine(h.Title, 60), h.Cost, h.Tokens, took, strings.Join(notes, ", "))
	for _, below := range h.Helpers {
		printTree(env, below, depth+1)
	}
}
