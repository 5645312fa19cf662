package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
	"lathe/internal/cli/data"
	"lathe/internal/cli/manage"
	"lathe/internal/cli/run"
	"lathe/internal/cli/screen"
	"lathe/internal/cli/serve"
	"lathe/internal/cli/sessions"
	"lathe/internal/cli/topic"
)

// command is one of the commands below the root.
type command struct {
	name string
	make func(*console.Env) *cobra.Command
}

// commands are all of them. To make them takes as long as everything else that
// lathe --version does, so a call makes the one it needs.
func commands() []command {
	return []command{
		{"run", run.New}, {"tui", screen.New}, {"attach", screen.NewAttach}, {"review", screen.NewReview},
		{"serve", serve.New}, {"web", serve.NewWeb}, {"acp", serve.NewACP}, {"worker", serve.NewWorker},
		{"session", sessions.NewSession}, {"context", sessions.NewContext}, {"stats", sessions.NewStats}, {"search", sessions.NewSearch},
		{"job", sessions.NewJob}, {"export", sessions.NewExport}, {"import", sessions.NewImport}, {"share", sessions.NewShare},
		{"unshare", sessions.NewUnshare}, {"debug", sessions.NewDebug},
		{"agents", manage.NewAgents}, {"auth", manage.NewAuth}, {"commands", manage.NewCommands}, {"config", manage.NewConfig},
		{"learn", manage.NewLearn}, {"lsp", manage.NewLSP}, {"mcp", manage.NewMCP}, {"models", manage.NewModels},
		{"permissions", manage.NewPermissions}, {"plugin", newPlugin}, {"trust", manage.NewTrust}, {"worktree", manage.NewWorktree}, {"workers", manage.NewWorkers},
		{"db", data.NewDB}, {"doctor", data.NewDoctor}, {"user", data.NewUser}, {"audit", data.NewAudit}, {"version", newVersion},
	}
}

// newPlugin is lathe plugin, whose tests run the whole program.
func newPlugin(env *console.Env) *cobra.Command { return manage.NewPlugin(env, newRoot) }

func newVersion(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: console.NoArgs,
		RunE: func(*cobra.Command, []string) error { return printVersion(env) },
	}
}

// newRoot is the whole tree of commands.
func newRoot(env *console.Env) *cobra.Command {
	root := bareRoot(env)
	for _, c := range commands() {
		root.AddCommand(c.make(env))
	}
	root.SetHelpCommand(topic.New(env))
	typeUsage(root)
	return root
}

// rootFor is as much of the tree as the arguments need: a command that is named first, and
// no other; none for the version alone; else all.
func rootFor(env *console.Env) *cobra.Command {
	if len(env.Args) == 0 {
		return newRoot(env)
	}
	first := env.Args[0]
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == first })
	version := len(env.Args) == 1 && (first == "--version" || first == "-v")
	if i < 0 && !version {
		return newRoot(env)
	}
	root := bareRoot(env)
	root.CompletionOptions.DisableDefaultCmd = true
	if i >= 0 {
		root.AddCommand(all[i].make(env))
	}
	typeUsage(root)
	return root
}
