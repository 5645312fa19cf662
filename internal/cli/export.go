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
	"lathe/internal/printable"
	"lathe/internal/session"
	"lathe/internal/store"
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
			"JSON is complete and can be imported again, here or in OpenCode. From Markdown and HTML secrets and what files hold that may not be read without an ask are removed, and\n" +
			"what was reverted is left out; --sanitize removes all that was said, and keeps what happened.",
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

// namedSession returns the named session, or the one of the directory that was
// used last.
func namedSession(ctx context.Context, a *app, dir string, args []string) (lathe.Session, error) {
	if len(args) == 1 {
		return a.svc.Get(ctx, lathe.SessionID(args[0]))
	}
	list, err := a.svc.List(ctx, store.SessionFilter{Directory: dir, Roots: true, ByUse: true, Limit: 1})
	if err != nil {
		return lathe.Session{}, err
	}
	if len(list) == 0 {
		return lathe.Session{}, lathe.Errorf(lathe.CodeNotFound, "start one with: lathe run, or name one of: lathe session list --all", "there are no sessions in %s", dir)
	}
	return list[0], nil
}

func export(ctx context.Context, env *Env, a *app, sess lathe.Session, o exportOptions) error {
	t, err := readTranscript(ctx, a, sess, o.format)
	if err != nil {
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
	f, err := newFile(env, o.output)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, f.Name())
	return err
}

// readTranscript reads what is exported: all there is for JSON; for people what
// stands, without what was taken back.
func readTranscript(ctx context.Context, a *app, sess lathe.Session, format string) (t transcript.Session, err error) {
	t.Info = sess
	if format == "json" {
		t.Messages, err = a.svc.Messages(ctx, sess.ID, 0)
		return t, err
	}
	st, err := a.svc.Diffs.Standing(ctx, sess)
	t.Messages, t.Diffs, t.Hidden = a.svc.Instances.Shown(ctx, sess.Directory, st.Messages), st.Diffs, st.Hidden
	return t, err
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
		if err := json.Indent(&out, printable.JSON(raw), "", "  "); err != nil {
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

type importOptions struct {
	dry    bool
	report string
}

func newImport(env *Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use: "import file | directory | opencode", Short: "Take in an exported session, or all of OpenCode's", Args: exactArgs(1, "a file or directory"),
		Long: "Import reads a session that was exported as JSON, or the sessions in OpenCode's data directory (\"opencode\"\n" +
			"stands for where it usually is): the files of 1.1 and the database of 1.18. To repeat an import changes nothing;\n" +
			"what went on here since is kept. Every session is read back and compared with what was read; --report lists\n" +
			"them with their numbers and hashes.",
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
				switch {
				case info.IsDir():
					return importAll(cmd.Context(), env, a, path, o)
				case filepath.Base(path) == disk.Database:
					return importAll(cmd.Context(), env, a, filepath.Dir(path), o)
				case o != (importOptions{}):
					return usageError{errors.New("--dry-run and --report are for OpenCode's data directory")}
				}
				return importFile(cmd.Context(), env, a, dir, path)
			})
		},
	}
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only say what there is")
	cmd.Flags().StringVar(&o.report, "report", "", "a new file to list the sessions in")
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
	in.Session.Rules = nil
	if r := in.Session.Revert; r != nil { // what it hid stays hidden; the files are elsewhere
		in.Session.Revert = &lathe.Revert{MessageID: r.MessageID, PartID: r.PartID}
	}
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
	out, err := a.svc.Importer.Add(ctx, in)
	if err == nil && out == session.ImportKept {
		a.svc.Importer.NewIDs(&in)
		out, err = a.svc.Importer.Add(ctx, in)
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
