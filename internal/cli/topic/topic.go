// Package topic is lathe help: of a command, or of a topic, which is one page about what
// several commands have in common.
package topic

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/typo"
)

//go:embed en/*.txt zh-CN/*.txt
var pages embed.FS

// names are the topics, in the order in which they are listed.
var names = [...]string{"models", "permissions", "trust", "undo", "confinement", "network", "hooks", "plugins", "exit-codes", "languages"}

// New is lathe help. A topic goes before the command of the same name, whose help it names.
func New(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use: "help [command | topic]", Short: "Explain a command or a topic",
		Long:    "Help explains a command, as its --help does, or a topic: " + list() + ".",
		Example: "  lathe help permissions\n  lathe help exit codes\n  lathe help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			if text, ok := page(env, strings.Join(args, "-")); ok {
				_, err := fmt.Fprint(env.Stdout, text)
				return err
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 || found == cmd.Root() {
				return unknown(cmd.Root(), strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			out := slices.Clone(names[:])
			for _, sub := range cmd.Root().Commands() {
				if sub.IsAvailableCommand() && !slices.Contains(out, sub.Name()) {
					out = append(out, sub.Name()+"\t"+sub.Short)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// page returns the text of a topic. One letter too few or too many at its end is no matter:
// what is called plugin elsewhere is plugins here.
func page(env *console.Env, name string) (string, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(names[:], func(n string) bool { return n == name || n == name+"s" })
	if i < 0 {
		return "", false
	}
	text, err := pages.ReadFile(env.Language().String() + "/" + names[i] + ".txt")
	return string(text), err == nil
}

// Names returns the topics, in the order in which they are listed.
func Names() []string { return slices.Clone(names[:]) }

// English returns the text of a topic: its title, paragraphs, and indented lines.
func English(name string) (string, error) {
	text, err := pages.ReadFile("en/" + name + ".txt")
	return string(text), err
}

func list() string {
	return strings.ReplaceAll(strings.Join(names[:], ", "), "exit-codes", "exit codes")
}

func unknown(root *cobra.Command, name string) error {
	known := slices.Clone(names[:])
	for _, sub := range root.Commands() {
		known = append(known, sub.Name())
	}
	hint := "the topics are: " + list() + "; commands are listed by: lathe --help"
	if near := typo.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return lathe.Errorf(lathe.CodeInvalid, hint, "there is no command and no topic %q", name)
}
