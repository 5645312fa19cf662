package face

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/provider"
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

// StoreKey tries a provider's key, unless it is not to be checked, stores it with set, and says what
// came of it. A provider that is not in the catalogue cannot be asked.
func (f *Face) StoreKey(ctx context.Context, env *console.Env, id, key string, check bool, set func() error) error {
	known, err := f.Providers(ctx)
	unknown := err == nil && !slices.ContainsFunc(known, func(p api.Provider) bool { return p.ID == id })
	tried := ""
	if check && !unknown {
		if tried, err = f.tryKey(ctx, env, id, key); err != nil {
			return err
		}
	}
	if err := set(); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "lathe: stored a key for %s\n", id)
	if tried != "" {
		fmt.Fprintf(env.Stderr, "lathe: %s\n", tried)
	}
	if unknown {
		fmt.Fprintf(env.Stderr, "lathe: %s is not in the catalogue; define it under \"provider\" in the configuration\n", id)
	}
	return nil
}

// tryKey tries a provider's key before it is stored. It returns what came of it, in words; the
// error says that the provider refused the key, or that the person went away.
func (f *Face) tryKey(ctx context.Context, env *console.Env, id, key string) (string, error) {
	if env.StdinTTY {
		fmt.Fprintf(env.Stderr, "lathe: trying the key of %s\n", id)
	}
	t, err := f.TestKey(ctx, id, key)
	t.Detail = console.Clean(t.Detail)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "it could not be tried: " + console.Clean(err.Error()), nil
	case t.Outcome == api.KeyAccepted:
		return console.Clean(t.Model) + " answered", nil
	case t.Outcome == api.KeyRefused:
		return "", provider.KeyRefused(id, t)
	}
	return "it could not be tried: " + t.Detail + " (" + t.Hint + ")", nil
}
