package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/say"
)

type importOptions struct {
	dry    bool
	report string
}

// NewImport is lathe import.
func NewImport(env *console.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use: "import file | directory | opencode | claude | codex", Short: "Import an exported session, or what you have for OpenCode, Claude Code or Codex", Args: console.ExactArgs(1, "a file or directory"),
		Long: "Import reads a session that was exported as JSON, or the sessions in OpenCode's data directory (\"opencode\"\n" +
			"stands for where it usually is): the files of 1.1 and the database of 1.18. Repeating an import changes nothing;\n" +
			"what went on here since is kept. Every session is read back and compared with what was read; --report lists\n" +
			"them with their numbers and hashes.\n\n" +
			"\"claude\" and \"codex\" copy the commands and agents that you made for Claude Code or Codex, and for Codex your\n" +
			"instructions, into lathe's configuration. What you have there already stays. Their MCP servers: lathe mcp import;\n" +
			"their sessions cannot be read, and their logins are their own.",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.Import{DryRun: o.dry, Store: o.report != ""}
			if program := programs[args[0]]; program != "" {
				if o.report != "" {
					return console.Usagef("--report is for sessions")
				}
				in = api.Import{DryRun: o.dry, Program: program}
				return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return importFiles(cmd.Context(), env, f, in) })
			}
			if args[0] != "opencode" {
				in.Path = console.Absolute(env, args[0])
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return importSessions(cmd.Context(), env, f, in, o) })
		},
	}
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only say what there is")
	cmd.Flags().StringVar(&o.report, "report", "", "a new file to list the sessions in")
	return cmd
}

// importSessions prints what an import does.
func importSessions(ctx context.Context, env *console.Env, f *face.Face, in api.Import, o importOptions) (err error) {
	rep := &importReport{}
	if o.report != "" {
		file, err := newFile(env, o.report)
		if err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, file.Close())
			if rep.last == nil && rep.sum == nil { // nothing was read
				err = errors.Join(err, os.Remove(file.Name()))
			}
		}()
		rep.lines = file
		fmt.Fprintln(file, "session\toutcome\tmessages\tparts\tread\tstored")
	}
	for n, err := range f.Import(ctx, in) {
		if err != nil {
			return err
		}
		if err := rep.add(env, n); err != nil {
			return err
		}
	}
	return rep.print(env, o.dry)
}

// importReport prints the news of an import.
type importReport struct {
	lines io.Writer // lists sessions; nil: they are not listed
	last  *api.ImportedSession
	sum   *api.ImportSum
}

func (rep *importReport) add(env *console.Env, n api.ImportNews) error {
	switch {
	case n.LeftOut != "":
		fmt.Fprintf(env.Stderr, "lathe: left out: %s\n", console.Clean(n.LeftOut))
	case n.Sum != nil:
		rep.sum = n.Sum
	case n.Session != nil:
		rep.last = n.Session
		if s := n.Session; rep.lines != nil && s.Outcome != api.ImportFailed {
			_, err := fmt.Fprintf(rep.lines, "%s\t%s\t%d\t%d\t%s\t%s\n", s.ID, s.Outcome, s.Messages, s.Parts, s.Read, s.Stored)
			return err
		}
	}
	return nil
}

// print reports the outcome; for a single session, its identifier.
func (rep *importReport) print(env *console.Env, dry bool) error {
	s := rep.sum
	if s.Export {
		fmt.Fprintln(env.Stderr, "lathe: "+rep.last.Outcome+", "+say.Plural(s.Messages, "message"))
		_, err := fmt.Fprintln(env.Stdout, rep.last.ID)
		return err
	}
	fmt.Fprintf(env.Stdout, "read: %s, %s, %s; %s could not be read\n",
		say.Plural(s.Sessions, "session"), say.Plural(s.Messages, "message"), say.Plural(s.Parts, "part"), say.Plural(s.Problems, "piece"))
	if dry {
		return nil
	}
	fmt.Fprintf(env.Stdout, "stored: %d added, %d updated, %d the same as before, %d kept since they went on here\n",
		s.Outcomes[api.ImportAdded], s.Outcomes[api.ImportUpdated], s.Outcomes[api.ImportSame], s.Outcomes[api.ImportKept])
	if n := s.Outcomes[api.ImportFailed]; n > 0 {
		return fmt.Errorf("%s could not be stored; see above for the reasons", say.Plural(n, "session"))
	}
	if len(s.Differ) > 0 {
		return fmt.Errorf("not as they were read: %s, the first is %s", say.Plural(len(s.Differ), "session"), s.Differ[0])
	}
	fmt.Fprintln(env.Stdout, "checked: every session that was stored reads back the same, by count and by hash")
	return nil
}

// newFile makes a file that must not exist.
func newFile(env *console.Env, path string) (*os.File, error) {
	f, err := os.OpenFile(console.Absolute(env, path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "name another file", "%v", err)
	}
	return f, nil
}
