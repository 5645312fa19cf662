package cli

import (
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
		if l := env.Language(); l != say.English {
			translate(l, cmd)
		}
		show(cmd, args)
	})
}

// headings are what the template of a help has of its own.
var headings = [...]string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Global Flags:", "Additional help topics:", "Additional Commands:",
	"Flags:", `Use "{{.CommandPath}} [command] --help" for more information about a command.`,
}

// translate puts the help of a command into a language.
func translate(l say.Language, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Short, cmd.Long = l.Text(cmd.Short), l.Text(cmd.Long)
	for _, sub := range cmd.Commands() {
		sub.Short = l.Text(sub.Short)
	}
	usage := func(f *pflag.Flag) { f.Usage = l.Text(f.Usage) }
	cmd.LocalFlags().VisitAll(usage)
	cmd.InheritedFlags().VisitAll(usage)
	template := cmd.UsageTemplate()
	for _, h := range headings {
		template = strings.ReplaceAll(template, "\n"+h, "\n"+l.Text(h))
		if rest, ok := strings.CutPrefix(template, h); ok {
			template = l.Text(h) + rest
		}
	}
	cmd.SetUsageTemplate(template)
}
