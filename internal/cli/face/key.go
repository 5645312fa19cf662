package face

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

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
