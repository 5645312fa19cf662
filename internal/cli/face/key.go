package face

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
)

// ReadKey reads a provider's key from the terminal, where it is not shown, or else a line from
// standard input.
func ReadKey(env *console.Env, in *bufio.Reader, provider string) (string, error) {
	var line string
	var err error
	if env.StdinTTY {
		fmt.Fprintf(env.Stderr, "Key for %s (not shown): ", provider)
		var raw []byte
		raw, err = term.ReadPassword(int(env.Stdin.Fd()))
		fmt.Fprintln(env.Stderr)
		line = string(raw)
	} else {
		line, err = in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	key := strings.TrimSpace(line)
	if key == "" {
		return "", console.Usagef("no key was given; nothing was stored")
	}
	if strings.ContainsAny(key, " \t") || strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return "", console.Usagef("that is not a key: it holds spaces or characters that no header can carry; nothing was stored")
	}
	return key, nil
}

// TryKey tries a provider's key before it is stored. It returns what came of it, in words; the
// error says that the provider refused the key, or that the person went away.
func (f *Face) TryKey(ctx context.Context, env *console.Env, provider, key string) (string, error) {
	if env.StdinTTY {
		fmt.Fprintf(env.Stderr, "lathe: trying the key of %s\n", provider)
	}
	t, err := f.TestKey(ctx, provider, key)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "it could not be tried: " + console.Clean(err.Error()), nil
	case t.Outcome == api.KeyAccepted:
		return console.Clean(t.Model) + " answered", nil
	case t.Outcome == api.KeyRefused:
		return "", lathe.Errorf(lathe.CodeAuth, "copy it again from the provider's console, or store it all the same with --no-check", "%s refused the key, which is not stored: %s", provider, console.Clean(t.Detail))
	}
	return "it could not be tried: " + console.Clean(t.Detail) + " (" + t.Hint + ")", nil
}
