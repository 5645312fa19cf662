package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/cli/run"
	"lathe/internal/cli/screen"
)

// openWith is lathe with arguments that are not a command: a directory to work
// in, a request, or both in this order. If no screen can be shown, the request is
// carried out as by lathe run.
func openWith(ctx context.Context, cmd *cobra.Command, env *console.Env, o screen.Options, args []string) error {
	rest := args
	if dir, ok := directoryArg(env, args[0]); ok {
		o.Dir, rest = dir, args[1:]
	}
	switch {
	case len(rest) == 1 && isRequest(rest[0]):
		if o.Prompt != "" {
			return console.Usagef("the request is given twice: as an argument and with --prompt")
		}
		o.Prompt = rest[0]
	case len(rest) > 0:
		return notUnderstood(cmd, env, rest)
	}
	if env.Interactive() || o.Prompt == "" {
		return screen.Run(ctx, env, o)
	}
	return run.Run(ctx, env, run.Options{
		Message: []string{o.Prompt}, Dir: o.Dir, Model: o.Model, Agent: o.Agent, Cont: o.Cont, Session: o.Session, Trust: o.Trust, Format: "default",
	})
}

// directoryArg returns the directory that an argument names.
func directoryArg(env *console.Env, arg string) (string, bool) {
	if home := env.Getenv("HOME"); home != "" && (arg == "~" || strings.HasPrefix(arg, "~/")) {
		arg = home + arg[1:]
	}
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	info, err := os.Stat(path)
	return arg, err == nil && info.IsDir()
}

// isRequest reports whether an argument looks like a request in words: it has
// blanks, or letters that no command has.
func isRequest(arg string) bool {
	return strings.ContainsFunc(strings.TrimSpace(arg), unicode.IsSpace) ||
		strings.ContainsFunc(arg, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) })
}

// notUnderstood says what to write instead of arguments that are no command.
func notUnderstood(cmd *cobra.Command, env *console.Env, args []string) error {
	word := args[0]
	if nearestCommand(cmd, word) != "" {
		return unknownCommand(cmd, word)
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return lathe.Errorf(lathe.CodeInvalid, fmt.Sprintf("say what to do with it: lathe run -f %s \"…\"", word), "%q is a file", word)
	case strings.ContainsAny(word, `/\`) || strings.HasPrefix(word, "."):
		return console.Usagef("there is no directory %q", word)
	case len(args) > 1:
		return lathe.Errorf(lathe.CodeInvalid, fmt.Sprintf("if it is a request, put it in quotes: lathe %q", strings.Join(args, " ")), "unknown command %q for %q", word, cmd.CommandPath())
	}
	return lathe.Errorf(lathe.CodeInvalid, fmt.Sprintf("list them with: lathe --help; if it is a request, use: lathe run %q, or in the screen: lathe --prompt %q", word, word), "unknown command %q for %q", word, cmd.CommandPath())
}
