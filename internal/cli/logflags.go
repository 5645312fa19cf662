package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
)

// logFlags turns --print-logs and --log-level into LATHE_PRINT_LOGS and
// LATHE_LOG_LEVEL, which is where everything else looks.
func logFlags(env *console.Env, cmd *cobra.Command) error {
	flags := cmd.Flags()
	over := map[string]string{}
	if on, err := flags.GetBool("print-logs"); err == nil && on {
		over["LATHE_PRINT_LOGS"] = "1"
	}
	if level, err := flags.GetString("log-level"); err == nil && flags.Changed("log-level") {
		level = strings.ToUpper(level)
		switch level {
		case "DEBUG", "INFO", "WARN", "ERROR":
		default:
			return usageOf(cmd, console.Usagef("--log-level %q is not one of DEBUG, INFO, WARN, ERROR", level))
		}
		over["LATHE_LOG_LEVEL"] = level
	}
	if len(over) == 0 {
		return nil
	}
	inner := env.Getenv
	env.Getenv = func(name string) string {
		if v, ok := over[name]; ok {
			return v
		}
		return inner(name)
	}
	return nil
}
