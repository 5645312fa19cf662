// Package sessions has the commands about conversations: listing, showing, exporting,
// searching and sharing them, what fills their window, what they cost, and their jobs.
package sessions

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/cli/screen"
	"lathe/internal/cli/show"
	"lathe/internal/opencode/wire"
	"lathe/internal/tui/theme"
)

// NewSession is lathe session.
func NewSession(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "session", Short: "List, show, undo, fork, export and delete sessions"}
	cmd.AddCommand(newSessionList(env), newSessionShow(env), newSessionDelete(env))
	cmd.AddCommand(newSessionRevert(env), newSessionUnrevert(env), newSessionFork(env), newSessionDiff(env),
		newSessionTree(env), newSessionRename(env), newSessionArchive(env), newSessionMove(env), newSessionUnlock(env), NewExport(env), NewImport(env))
	return cmd
}

func newSessionList(env *console.Env) *cobra.Command {
	var filter api.SessionFilter
	var format string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List sessions, most recently used first", Args: console.NoArgs,
		Long: "List shows the sessions of this directory, most recently used first; --all shows those of every directory.\n" +
			"Sessions that were archived are left out, unless --archived asks for them alone.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "table" && format != "json" {
				return console.Usagef("--format %q is neither table nor json", format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				list, err := f.List(cmd.Context(), filter)
				if err != nil {
					return err
				}
				return printSessions(env, list, format, filter.Everywhere)
			})
		},
	}
	cmd.Flags().IntVarP(&filter.Limit, "max-count", "n", 50, "how many to show at most; 0 for all")
	cmd.Flags().BoolVar(&filter.Everywhere, "all", false, "of every directory")
	cmd.Flags().BoolVar(&filter.OnlyArchived, "archived", false, "those that were put away")
	cmd.Flags().StringVar(&filter.Search, "title", "", "only those whose title contains this")
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return cmd
}

func printSessions(env *console.Env, list []lathe.Session, format string, all bool) error {
	if format == "json" {
		return console.PrintJSON(env, wire.EncodeSessions(list))
	}
	for _, s := range list {
		where := ""
		if all {
			where = "  " + console.Clean(s.Directory)
		}
		fmt.Fprintf(env.Stdout, "%s  %s  %-8s  %s%s\n", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), s.Cost, console.OneLine(s.Title, 80), where)
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: there are no sessions here yet; start one with: lathe run")
	}
	return nil
}

func newSessionShow(env *console.Env) *cobra.Command {
	var format string
	var limit int
	cmd := &cobra.Command{
		Use: "show id", Short: "Show the messages of a session", Args: console.ExactArgs(1, "one session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return console.Usagef("--format %q is neither text nor json", format)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Get(cmd.Context(), lathe.SessionID(args[0]))
				if err != nil {
					return err
				}
				msgs, err := f.Messages(cmd.Context(), sess.ID, limit)
				if err != nil {
					return err
				}
				if format == "json" {
					return showJSON(env, sess, msgs)
				}
				showText(env, sess, msgs, func() *theme.Theme { return screen.Theme(cmd.Context(), env, f) })
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().IntVarP(&limit, "max-count", "n", 0, "the newest n messages only")
	return cmd
}

func showJSON(env *console.Env, sess lathe.Session, msgs []lathe.Message) error {
	return console.PrintJSON(env, map[string]any{"info": wire.EncodeSession(sess), "messages": wire.EncodeMessages(msgs)})
}

// showText shows a session as a run is shown, in the theme that the person chose.
func showText(env *console.Env, sess lathe.Session, msgs []lathe.Message, chosen func() *theme.Theme) {
	out := *env
	out.Stderr, out.StderrTTY = env.Stdout, env.StdoutTTY // all output is what was asked for
	o := show.New(&out, show.Options{Thinking: true, Theme: chosen})
	st := o.Style
	fmt.Fprintf(env.Stdout, "%s\n%s  %s  %s\n", st.Bold(console.OneLine(sess.Title, 200)), sess.ID, console.Clean(sess.Directory), sess.Created.Local().Format(time.DateTime))
	for _, m := range msgs {
		if sess.Revert != nil && m.ID == sess.Revert.MessageID {
			fmt.Fprintf(env.Stdout, "\n%s\n", st.Dim("— from here on it was reverted; lathe session unrevert brings it back —"))
		}
		switch info := m.Info.(type) {
		case *lathe.User:
			words := userWords(m)
			if words == "" { // a message of lathe's own: a request to compact, a reminder to go on
				continue
			}
			fmt.Fprintf(env.Stdout, "\n%s\n", st.Blue("▌ "+strings.ReplaceAll(console.Clean(words), "\n", "\n▌ ")))
		case *lathe.Assistant:
			if info.Summary {
				fmt.Fprintf(env.Stdout, "\n%s\n", st.Dim("— what came before was compacted; the summary —"))
			}
			for _, p := range m.Parts {
				o.Part(p, true)
			}
			o.FlushAnswer()
			if info.Error != nil {
				o.ErrLine(st.Red("error: ") + console.Clean(info.Error.Error()))
			}
		}
	}
}

func userWords(m lathe.Message) string {
	var words []string
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			if !b.Synthetic {
				words = append(words, b.Text)
			}
		case *lathe.Subtask:
			words = append(words, "@"+b.Agent+": "+console.OneLine(b.Description, 200))
		case *lathe.File:
			words = append(words, "[file "+b.Filename+"]")
		}
	}
	return strings.Join(words, "\n")
}

func newSessionDelete(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "delete id …", Short: "Delete sessions and all that belongs to them",
		Args: console.AtLeastOne("session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				for _, id := range args {
					if err := f.Delete(cmd.Context(), lathe.SessionID(id)); err != nil {
						return err
					}
					fmt.Fprintf(env.Stderr, "lathe: deleted %s\n", id)
				}
				return nil
			})
		},
	}
}
