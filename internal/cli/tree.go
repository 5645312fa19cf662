package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
)

// Tree is the tree of commands with their help, for man pages and completions.
// Its commands are not to be run.
func Tree() *cobra.Command {
	return newRoot(&console.Env{Getenv: os.Getenv, Now: time.Now})
}
