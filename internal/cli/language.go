package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lathe/internal/cli/console"
	"lathe/internal/say"
)

// speak makes the help of all commands speak the person's language. It is translated when
// it is shown, so that a start which shows none costs nothing.
func speak(env *console.Env, root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		l := env.Language()
		if l == say.English {
			show(cmd, args)
			return
		}
		translate(l, cmd)
		if about := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)); about != "" {
			fmt.Fprintln(cmd.OutOrStdout(), about+"\n")
		}
		fmt.Fprint(cmd.OutOrStdout(), inLanguage(l, cmd.UsageString(), cmd.CommandPath()))
	})
}

// headings are lines that the library of commands writes into a help by itself.
var headings = [...]string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Global Flags:", "Additional help topics:", "Additional Commands:",
	"Flags:", moreHelp,
}

// moreHelp ends the help of a command that has others below it.
const moreHelp = `Use "{{.CommandPath}} [command] --help" for more information about a command.`

// translate puts what we wrote about a command into a language.
func translate(l say.Language, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Short, cmd.Long = l.Text(cmd.Short), l.Text(cmd.Long)
	for _, sub := range cmd.Commands() {
		sub.Short = l.Text(sub.Short)
	}
	usage := func(f *pflag.Flag) { f.Usage = l.Text(f.Usage) }
	cmd.LocalFlags().VisitAll(usage)
	cmd.InheritedFlags().VisitAll(usage)
}

// inLanguage translates the headings of a usage text. It changes the text and not the
// library's template: whatever can run a template keeps every exported method of the
// program in the binary, since a template may name any of them, which costs some MiB.
func inLanguage(l say.Language, usage, path string) string {
	named := func(text string) string { return strings.ReplaceAll(text, "{{.CommandPath}}", path) }
	lines := strings.Split(usage, "\n")
	for i, line := range lines {
		for _, h := range headings {
			if line == named(h) {
				lines[i] = named(l.Text(h))
			}
		}
	}
	return strings.Join(lines, "\n")
}
