package sessions

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/opencode/wire"
	"lathe/internal/say"
)

// onSession makes a command whose first argument is a session.
func onSession(env *console.Env, cmd *cobra.Command, rest string, run func(ctx context.Context, f *face.Face, sess lathe.Session, args []string) error) *cobra.Command {
	want := 1
	what := "one session id"
	if rest != "" {
		want, what = 2, "a session id and "+rest
	}
	cmd.Args = console.ExactArgs(want, what)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
			sess, err := f.Get(cmd.Context(), lathe.SessionID(args[0]))
			if err != nil {
				return err
			}
			return run(cmd.Context(), f, sess, args[1:])
		})
	}
	return cmd
}

// onLastUsed makes a command that takes a session, or this directory's last
// used one, and then says which that is.
func onLastUsed(env *console.Env, cmd *cobra.Command, run func(ctx context.Context, f *face.Face, sess lathe.Session) error) *cobra.Command {
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
			sess, err := f.Session(cmd.Context(), args)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				fmt.Fprintf(env.Stderr, "lathe: session %s: %s\n", sess.ID, console.OneLine(sess.Title, 60))
			}
			return run(cmd.Context(), f, sess)
		})
	}
	return cmd
}

func newSessionRevert(env *console.Env) *cobra.Command {
	var in api.Revert
	var message, part string
	cmd := onLastUsed(env, &cobra.Command{
		Use: "revert [id]", Short: "Undo what a session did to files, from a message on",
		Long: "Revert takes files back to what they were before a message (the newest prompt, unless --message names one)\n" +
			"of a session (the one used last here, unless its id is given) and hides the messages from there on, until the next prompt removes them. Files that were changed by others\n" +
			"since are kept and named; --force takes them back too. Unrevert undoes it.",
	}, func(ctx context.Context, f *face.Face, sess lathe.Session) error {
		in.MessageID, in.PartID = lathe.MessageID(message), lathe.PartID(part)
		in.Last = in.MessageID == ""
		out, err := f.Revert(ctx, sess.ID, in)
		if err != nil {
			return err
		}
		if out.Unrecorded != "" {
			return tellUnrecorded(env, sess.ID, out)
		}
		return tellFiles(env, out)
	})
	cmd.Flags().StringVar(&message, "message", "", "the first message to undo")
	cmd.Flags().StringVar(&part, "part", "", "the first part of it to undo")
	cmd.Flags().BoolVar(&in.Force, "force", false, "also files that others have changed since")
	return cmd
}

func newSessionUnrevert(env *console.Env) *cobra.Command {
	in := api.Unrevert{Fork: true}
	cmd := onLastUsed(env, &cobra.Command{Use: "unrevert [id]", Short: "Restore what a revert undid, or what a fork with --files changed"},
		func(ctx context.Context, f *face.Face, sess lathe.Session) error {
			out, err := f.Unrevert(ctx, sess.ID, in)
			if err != nil {
				return err
			}
			if sess.Revert == nil && len(out.Changed)+len(out.Kept) == 0 {
				fmt.Fprintln(env.Stderr, "lathe: the session is not reverted")
				return nil
			}
			return tellFiles(env, out)
		})
	cmd.Flags().BoolVar(&in.Force, "force", false, "also files that others have changed since")
	return cmd
}

// tellFiles prints what was changed. Conflicts make the command fail.
func tellFiles(env *console.Env, out api.Reverted) error {
	for _, f := range out.Changed {
		fmt.Fprintln(env.Stdout, console.Clean(f))
	}
	if len(out.Changed) == 0 && len(out.Kept) == 0 {
		fmt.Fprintln(env.Stderr, "lathe: no file had to be changed")
	}
	for _, c := range out.Kept {
		fmt.Fprintf(env.Stderr, "lathe: kept %s: %s\n", console.Clean(c.Path), c.Reason)
	}
	if len(out.Kept) > 0 {
		return console.ExitError{Code: console.ExitFailed, Err: lathe.Errorf(lathe.CodeInvalid, "look at them, then repeat with --force to replace them", "kept: %s", say.Plural(len(out.Kept), "file"))}
	}
	return nil
}

// tellUnrecorded prints what was changed, and that other changes stay because
// they were not recorded, which counts as a failure.
func tellUnrecorded(env *console.Env, id lathe.SessionID, out api.Reverted) error {
	what := "no file was taken back"
	if len(out.Changed)+len(out.Kept) > 0 {
		if err := tellFiles(env, out); err != nil {
			fmt.Fprintf(env.Stderr, "lathe: %v\n", err)
		}
		what = "not everything was taken back"
	}
	return console.ExitError{Code: console.ExitFailed, Err: lathe.Errorf(lathe.CodeInvalid, "the messages are hidden; show them again with: lathe session unrevert "+string(id),
		"%s: what was done to files was not recorded: %s", what, out.Unrecorded)}
}

func newSessionFork(env *console.Env) *cobra.Command {
	var in api.Fork
	var message string
	cmd := onSession(env, &cobra.Command{
		Use: "fork id", Short: "Start a new session with the messages of another",
		Long: "Fork copies the messages, all or those before --message, and prints the new session. With --files the files of\n" +
			"the directory go back to what they were there; unrevert, with the new session, brings them back.",
	}, "",
		func(ctx context.Context, f *face.Face, sess lathe.Session, _ []string) error {
			in.MessageID = lathe.MessageID(message)
			fork, out, err := f.Fork(ctx, sess.ID, in)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, fork.ID)
			if in.Files {
				conflicted := *env
				conflicted.Stdout = env.Stderr
				return tellFiles(&conflicted, out)
			}
			return nil
		})
	cmd.Flags().StringVar(&message, "message", "", "the first message that is left out")
	cmd.Flags().BoolVar(&in.Files, "files", false, "take the files back to that point too")
	cmd.Flags().StringVar(&in.Title, "title", "", "title of the fork")
	return cmd
}

func newSessionDiff(env *console.Env) *cobra.Command {
	var message, format string
	cmd := onLastUsed(env, &cobra.Command{Use: "diff [id]", Short: "Show what a session changed, without what was reverted"},
		func(ctx context.Context, f *face.Face, sess lathe.Session) error {
			if format != "patch" && format != "stat" && format != "json" {
				return console.Usagef("--format %q is not patch, stat or json", format)
			}
			var diffs []lathe.FileDiff
			var err error
			if message == "" {
				diffs, err = f.StandingDiff(ctx, sess.ID)
			} else {
				diffs, err = f.Diff(ctx, sess.ID, lathe.MessageID(message))
			}
			if err != nil {
				return err
			}
			return printDiffs(env, diffs, format)
		})
	cmd.Flags().StringVar(&message, "message", "", "only what the answer to this prompt changed")
	cmd.Flags().StringVar(&format, "format", "patch", "patch, stat or json")
	return cmd
}

func printDiffs(env *console.Env, diffs []lathe.FileDiff, format string) error {
	if format == "json" {
		return console.PrintJSON(env, wire.EncodeDiffs(diffs))
	}
	renames := lathe.Renames(diffs)
	for _, d := range diffs {
		switch other := renames[d.File]; {
		case format == "stat" && other != "":
			if d.Status == "added" {
				fmt.Fprintf(env.Stdout, "%6d %6d  %s => %s\n", 0, 0, console.Clean(other), console.Clean(d.File))
			}
		case format == "stat":
			fmt.Fprintf(env.Stdout, "%6d %6d  %s\n", d.Additions, -d.Deletions, console.Clean(d.File))
		case d.Patch == "":
			fmt.Fprintf(env.Stdout, "# %s: %s, contents not shown\n", console.Clean(d.File), d.Status)
		default:
			fmt.Fprint(env.Stdout, console.CleanLines(d.Patch))
		}
	}
	return nil
}

func newSessionRename(env *console.Env) *cobra.Command {
	return onSession(env, &cobra.Command{Use: "rename id title", Short: "Give a session another title"}, "a title",
		func(ctx context.Context, f *face.Face, sess lathe.Session, args []string) error {
			_, err := f.Rename(ctx, sess.ID, args[0])
			return err
		})
}

func newSessionMove(env *console.Env) *cobra.Command {
	return onSession(env, &cobra.Command{
		Use: "move id directory", Short: "Let a session go on in another directory",
		Long: "Move is for sessions that were imported from elsewhere, or whose directory was renamed. What they\n" +
			"did to files before cannot be undone from there.",
	}, "a directory", func(ctx context.Context, f *face.Face, sess lathe.Session, args []string) error {
		dir, err := console.WorkDir(env, args[0])
		if err != nil {
			return err
		}
		_, err = f.Move(ctx, sess.ID, dir)
		return err
	})
}

func newSessionUnlock(env *console.Env) *cobra.Command {
	return onSession(env, &cobra.Command{
		Use: "unlock id", Short: "Unlock a session held by a process on a machine that is gone",
		Long: "A session belongs to the process that works in it. A process that died on this machine is noticed; whether one on\n" +
			"another machine, or in a container with another name, still lives only you can know.",
	}, "", func(ctx context.Context, f *face.Face, sess lathe.Session, _ []string) error {
		return f.Unlock(ctx, sess.ID)
	})
}

func newSessionArchive(env *console.Env) *cobra.Command {
	var undo bool
	cmd := onSession(env, &cobra.Command{Use: "archive id", Short: "Archive a session; nothing of it is removed"}, "",
		func(ctx context.Context, f *face.Face, sess lathe.Session, _ []string) error {
			_, err := f.Archive(ctx, sess.ID, !undo)
			return err
		})
	cmd.Flags().BoolVar(&undo, "undo", false, "take it out again")
	return cmd
}
