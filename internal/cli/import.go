package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/opencode/disk"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/workspace"
)

// maxImport bounds an exported session.
const maxImport = 1 << 30

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
