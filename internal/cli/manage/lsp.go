package manage

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/lsp"
	"lathe/internal/typo"
)

// NewLSP is lathe lsp.
func NewLSP(env *console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "List and install language servers",
		Long: `Language servers tell the model which errors its changes cause. They are switched on
by "lsp": true in the configuration; each starts when the first file it serves is used.

Lathe downloads nothing by itself. Install puts a server where lathe finds it,
using npm, go, pip or the system's package manager, and shows what it runs.`,
		Example: "  lathe lsp list\n  lathe lsp install gopls\n  lathe lsp install --print pyright",
		Args:    console.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var all, print bool
	var running runningLanguages
	var format console.ListFormat
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List installed servers", Args: console.NoArgs,
		Long: `List shows the language servers that are installed. With --attach it shows those that
run for this directory in a server of lathe: how they are doing, how many errors they know
of, and their memory.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if running.attach != "" {
				return running.list(cmd.Context(), env, format)
			}
			place, err := languagePlace(env)
			if err != nil {
				return err
			}
			return listLanguages(env, place, all, format)
		},
	}
	format.Flag(list.Flags())
	list.Flags().BoolVar(&all, "all", false, "also those that are not installed, and how to install them")
	running.flags(list.Flags())
	install := &cobra.Command{
		Use: "install NAME...", Short: "Install language servers", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := languagePlace(env)
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := installServer(cmd.Context(), env, place, name, print); err != nil {
					return err
				}
			}
			return nil
		},
	}
	install.Flags().BoolVar(&print, "print", false, "only print the commands")
	cmd.AddCommand(list, install)
	return cmd
}

// languagePlace is where language servers are looked for from this directory, whatever the project.
func languagePlace(env *console.Env) (lsp.Place, error) {
	dir, err := console.WorkDir(env, "")
	if err != nil {
		return lsp.Place{}, err
	}
	paths, err := config.DefaultPaths(env.Getenv)
	if err != nil {
		return lsp.Place{}, err
	}
	return lsp.Place{Dir: dir, Worktree: dir, Env: env.Environ, Home: paths.Home, Own: instance.LanguageDir(paths), Trusted: true}, nil
}

// language is a server as lathe lsp list shows it.
type language struct {
	ID    string   `json:"id"`
	Files []string `json:"files"`             // endings of the files it serves
	Path  string   `json:"path,omitempty"`    // of its program; empty: it is not installed
	Get   string   `json:"install,omitempty"` // how to get it, in words
}

func listLanguages(env *console.Env, place lsp.Place, all bool, format console.ListFormat) error {
	var list []language
	for _, s := range lsp.BuiltIn() {
		l := language{ID: s.ID, Files: s.Extensions(), Path: place.Where(&s)}
		if l.Path == "" {
			l.Get = howToGet(s)
		}
		if l.Path != "" || all {
			list = append(list, l)
		}
	}
	if format.JSON {
		return console.PrintList(env, list)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.ID, strings.Join(l.Files, " "), console.Clean(cmp.Or(l.Path, l.Get)))
	}
	if err := w.Flush(); err != nil || len(list) > 0 {
		return err
	}
	_, err := fmt.Fprintln(env.Stdout, "no language server was found; lathe lsp list --all shows which there are")
	return err
}

func howToGet(s lsp.Spec) string {
	if by, ok := strings.CutPrefix(s.Install, "by hand "); ok {
		return "not found; install " + by
	}
	return "not found; lathe lsp install " + s.ID
}

func installServer(ctx context.Context, env *console.Env, place lsp.Place, name string, print bool) error {
	all := lsp.BuiltIn()
	i := slices.IndexFunc(all, func(s lsp.Spec) bool { return s.ID == name })
	if i < 0 {
		return unknownServer(all, name)
	}
	spec := &all[i]
	steps, err := spec.Installation(place.Own, place.Lookup)
	if err != nil {
		return &lathe.Error{Code: lathe.CodeInvalid, Msg: err.Error()}
	}
	for _, step := range steps {
		if print {
			fmt.Fprintln(env.Stdout, console.Clean(step.String()))
			continue
		}
		fmt.Fprintf(env.Stderr, "lathe: running: %s\n", console.Clean(step.String()))
		if err := lsp.RunStep(ctx, step, env.Environ, console.Raw(env.Stderr)); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	if print {
		return nil
	}
	path := place.Where(spec)
	if path == "" {
		return lathe.Errorf(lathe.CodeNotFound, "see what the commands above printed", "%s was installed, but its program %q was not found afterwards", name, spec.Program())
	}
	fmt.Fprintf(env.Stdout, "%s is installed: %s\n", name, console.Clean(filepath.Clean(path)))
	return nil
}

func unknownServer(all []lsp.Spec, name string) error {
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	hint := "list them with: lathe lsp list --all"
	if near := typo.Nearest(name, ids); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return lathe.Errorf(lathe.CodeNotFound, hint, "lathe knows no language server %q", name)
}
