package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/cli/console"
)

const (
	// maxStdin bounds the message that standard input may give.
	maxStdin = 10 << 20
	// stdinPatience is how long a run with a message waits for the first byte of
	// an open standard input before it continues without it.
	stdinPatience = 2 * time.Second
)

// readMessage returns the message from the arguments, standard input, or both. It
// never waits forever on an input that someone forgot to close: with a message in
// the arguments, an input that stays silent is ignored. The argument "-" asks to
// wait for it.
func readMessage(ctx context.Context, env *console.Env, args []string) (string, error) {
	given := len(args)
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-" })
	wait := len(args) < given
	var words []string
	for _, a := range args {
		switch {
		case strings.ContainsAny(a, " \t") && len(args) > 1:
			words = append(words, `"`+strings.ReplaceAll(a, `"`, `\"`)+`"`)
		default:
			words = append(words, a)
		}
	}
	message := strings.Join(words, " ")
	if env.Stdin != nil && !env.StdinTTY {
		piped, err := readStdin(ctx, env, message == "" || wait)
		if err != nil {
			return "", err
		}
		message = strings.TrimSpace(strings.TrimRight(message+"\n"+piped, "\n"))
	}
	if strings.TrimSpace(message) == "" {
		return "", console.Usagef(`there is no message; give one: lathe run "what to do"`)
	}
	if !utf8.ValidString(message) {
		return "", console.Usagef("the message is not UTF-8 text; attach a file with -f instead")
	}
	return message, nil
}

// readStdin reads standard input to its end. If it is not needed, a first byte
// has to come soon.
func readStdin(ctx context.Context, env *console.Env, needed bool) (string, error) {
	type chunk struct {
		data []byte
		err  error
	}
	first, rest := make(chan struct{}, 1), make(chan chunk, 1)
	go func() { // ends with its input; there is no other way to stop a read
		one := make([]byte, 1)
		n, err := io.ReadFull(env.Stdin, one)
		first <- struct{}{}
		if err != nil {
			rest <- chunk{one[:n], ignoreEOF(err)}
			return
		}
		data, err := io.ReadAll(io.LimitReader(env.Stdin, maxStdin))
		rest <- chunk{append(one, data...), err}
	}()
	patience := time.NewTimer(stdinPatience)
	defer patience.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-first:
			first = nil
			patience.Stop()
		case c := <-rest:
			if c.err != nil {
				return "", fmt.Errorf("read standard input: %w", c.err)
			}
			if len(c.data) > maxStdin {
				return "", console.Usagef("standard input is longer than %d MiB; attach a file with -f instead", maxStdin>>20)
			}
			return string(c.data), nil
		case <-patience.C:
			if !needed {
				fmt.Fprintln(env.Stderr, "lathe: standard input is open but silent; going on without it (give - as an argument to wait for it)")
				return "", nil
			}
			if !told {
				told = true
				fmt.Fprintln(env.Stderr, "lathe: waiting for the message on standard input")
			}
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	// A closed descriptor reads as EBADF; to the user it is an empty input.
	if pe, ok := errors.AsType[*os.PathError](err); ok && strings.Contains(pe.Err.Error(), "bad file descriptor") {
		return nil
	}
	return err
}
