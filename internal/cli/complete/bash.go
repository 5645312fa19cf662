package complete

import (
	"bytes"
	_ "embed" // what bash has with the package bash-completion
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bare has the functions of the package bash-completion that cobra's script calls.
//
//go:embed bare.bash
var bare []byte

// Bash writes the script that completes in bash, with or without the package bash-completion.
func Bash(w io.Writer, root *cobra.Command, descriptions bool) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, descriptions); err != nil {
		return err
	}
	// What cobra defines for want of the package calls the package all the same. It is
	// defined anew behind it.
	b.Write(bytes.ReplaceAll(bare, []byte("PROGRAM"), []byte(root.Name())))
	_, err := w.Write(b.Bytes())
	return err
}

// Scripts adds the command that prints the scripts to root, if the arguments are for it or
// there are others.
func Scripts(root *cobra.Command, args ...string) {
	root.InitDefaultCompletionCmd(args...)
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return
	}
	needs, after, _ := strings.Cut(bash.Long, "This script depends on")
	if _, after, ok := strings.Cut(after, "\n\n"); ok {
		bash.Long = needs + "It uses the package bash-completion where that is installed, and works without it.\n\n" + after
	}
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		return Bash(cmd.OutOrStdout(), cmd.Root(), !plain)
	}
}
