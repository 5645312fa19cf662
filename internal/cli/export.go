package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/opencode/disk"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/sqlite"
	"lathe/internal/transcript"
	"lathe/internal/workspace"
)

// maxImport bounds an exported session.
const maxImport = 1 << 30

type exportOptions struct {
	format   string
	output   string
	sanitize bool
}

func newExport(env *Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export [id]", Short: "Write a session as JSON, Markdown or a web page", Args: cobra.MaximumNArgs(1),
		Long: "Export writes a session, the newest of this directory unless one is named, to standard output or a file.\n" +
			"JSON is complete and can be imported again, here or in OpenCode. Secrets are removed from Markdown and HTML;\n" +
			"--sanitize removes all that was said, and keeps what happened.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd.Context(), env, func(a *app, dir string) error {
				sess, err := namedSession(cmd.Context(), a, dir, args)
				if err != nil {
					return err
				}
				return export(cmd.Context(), env, a, sess, o)
			})
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "json", "json, markdown or html")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "the file to write; it must not exist")
	cmd.Flags().BoolVar(&o.sanitize, "sanitize", false, "remove texts, names and contents")
	return cmd
}

// namedSession returns the named session, or the newest of the directory.
func namedSession(ctx context.Context, a *app, dir string, args []string) (lathe.Session, error) {
	if len(args) == 1 {
		return a.svc.Get(ctx, lathe.SessionID(args[0]))
	}
	list, err := a.svc.List(ctx, sqlite.SessionFilter{Directory: dir, Roots: true, Limit: 1})
	if err != nil {
		return lathe.Session{}, err
	}
	if len(list) == 0 {
		return lathe.Session{}, lathe.Errorf(lathe.CodeNotFound, "name one; list them with: lathe session list --all", "there are no sessions in %s", dir)
	}
	return list[0], nil
}

func export(ctx context.Context, env *Env, a *app, sess lathe.Session, o exportOptions) error {
	t := transcript.Session{Info: sess}
	var err error
	if t.Messages, err = a.svc.Messages(ctx, sess.ID, 0); err != nil {
		return err
	}
	if t.Diffs, err = a.svc.Diff(ctx, sess.ID, ""); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := render(&b, t, o); err != nil {
		return err
	}
	if o.output == "" {
		_, err := env.Stdout.Write(b.Bytes())
		return err
	}
	path := o.output
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "name another file with --output", "%v", err)
	}
	_, err = f.Write(b.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, path)
	return err
}

func render(w io.Writer, t transcript.Session, o exportOptions) error {
	switch {
	case o.sanitize:
		t = transcript.Sanitized(t)
	case o.format != "json":
		t = transcript.Redacted(t)
	}
	switch o.format {
	case "json":
		raw, err := wire.Marshal(map[string]any{"info": wire.EncodeSession(t.Info), "messages": wire.EncodeMessages(t.Messages)})
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, raw, "", "  "); err != nil {
			return err
		}
		out.WriteByte('\n')
		_, err = out.WriteTo(w)
		return err
	case "markdown", "md":
		return transcript.Markdown(w, t)
	case "html":
		return transcript.HTML(w, t)
	}
	return usageError{fmt.Errorf("--format %q is not json, markdown or html", o.format)}
}

func newImport(env *Env) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "import file | directory | opencode", Short: "Take in an exported session, or all of OpenCode's", Args: exactArgs(1, "a file or directory"),
		Long: "Import reads a session that was exported as JSON, or the sessions in OpenCode's data directory (\"opencode\"\n" +
			"stands for where it usually is). To repeat an import changes nothing; what went on here since is kept.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd.Context(), env, func(a *app, dir string) error {
				path := args[0]
				if path == "opencode" {
					path = a.paths.OpenCodeData
				}
				if !filepath.IsAbs(path) {
					path = filepath.Join(env.Dir, path)
				}
				info, err := os.Stat(path)
				if err != nil {
					return lathe.Errorf(lathe.CodeNotFound, "", "%v", err)
				}
				if info.IsDir() {
					return importAll(cmd.Context(), env, a, path, dry)
				}
				return importFile(cmd.Context(), env, a, dir, path)
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what there is")
	return cmd
}

// importFile takes in one exported session, into this directory.
func importFile(ctx context.Context, env *Env, a *app, dir, path string) error {
	raw, err := workspace.ReadFile(path, maxImport)
	if err != nil {
		return err
	}
	in, err := decodeExport(raw)
	if err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "it must have been written by: lathe export, or opencode export", "import %s: %v", path, err)
	}
	inst, err := a.svc.Instance(ctx, dir)
	if err != nil {
		return err
	}
	in.Session.Directory, in.Session.ProjectID = dir, inst.Project.ID
	in.Session.Revert, in.Session.Rules = nil, nil
	if in.Hash, err = disk.Hash(in.Messages); err != nil {
		return err
	}
	if have, err := a.svc.Messages(ctx, in.Session.ID, 0); err == nil && len(have) > 0 {
		if hash, err := disk.Hash(have); err == nil && hash == in.Hash {
			fmt.Fprintf(env.Stderr, "lathe: %s, %d messages\n", session.ImportSame, len(have))
			_, err = fmt.Fprintln(env.Stdout, in.Session.ID)
			return err
		}
	}
	out, err := a.svc.Import(ctx, in)
	if err == nil && out == session.ImportKept {
		a.svc.NewIDs(&in)
		out, err = a.svc.Import(ctx, in)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: %s, %d messages\n", out, len(in.Messages))
	_, err = fmt.Fprintln(env.Stdout, in.Session.ID)
	return err
}

func decodeExport(raw []byte) (in session.Import, err error) {
	var doc struct {
		Info     json.RawMessage   `json:"info"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return in, err
	}
	if in.Session, err = wire.DecodeSession(doc.Info); err != nil {
		return in, err
	}
	for _, m := range doc.Messages {
		msg, err := wire.DecodeMessage(m)
		if err != nil {
			return in, err
		}
		msg.SessionID = in.Session.ID
		in.Messages = append(in.Messages, msg)
	}
	return in, nil
}

// importReport counts what an import did.
type importReport struct {
	sessions, messages, parts, problems int
	outcomes                            map[session.Imported]int
	differ                              []lathe.SessionID
}

// importAll takes in OpenCode's sessions, then compares what is stored with what
// was read, by number and by hash.
func importAll(ctx context.Context, env *Env, a *app, dir string, dry bool) error {
	rep := importReport{outcomes: map[session.Imported]int{}}
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
		if err := rep.take(ctx, a, r, dry); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.Stdout, "read: %d sessions, %d messages, %d parts; %d pieces could not be read\n", rep.sessions, rep.messages, rep.parts, rep.problems)
	if dry {
		return nil
	}
	fmt.Fprintf(env.Stdout, "stored: %d added, %d updated, %d the same as before, %d kept since they went on here\n",
		rep.outcomes[session.ImportAdded], rep.outcomes[session.ImportUpdated], rep.outcomes[session.ImportSame], rep.outcomes[session.ImportKept])
	if len(rep.differ) > 0 {
		return fmt.Errorf("%d sessions differ from what was read, the first is %s", len(rep.differ), rep.differ[0])
	}
	fmt.Fprintln(env.Stdout, "checked: every session that was stored reads back the same")
	return nil
}

func (rep *importReport) take(ctx context.Context, a *app, r *disk.Record, dry bool) error {
	rep.sessions++
	rep.messages += len(r.Messages)
	rep.parts += r.Parts()
	if dry {
		return nil
	}
	hash, err := disk.Hash(r.Messages)
	if err != nil {
		return err
	}
	out, err := a.svc.Import(ctx, session.Import{
		Session: r.Session, Project: r.Project, Messages: r.Messages, Todos: r.Todos, Diffs: r.Diffs, Hash: hash,
	})
	if err != nil {
		return err
	}
	rep.outcomes[out]++
	if out != session.ImportAdded && out != session.ImportUpdated {
		return nil
	}
	stored, err := a.svc.Messages(ctx, r.Session.ID, 0)
	if err != nil {
		return err
	}
	if again, err := disk.Hash(stored); err != nil || again != hash {
		rep.differ = append(rep.differ, r.Session.ID)
	}
	return nil
}
