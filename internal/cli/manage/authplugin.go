package manage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// errByKey means that the person wants to log in with a key.
var errByKey = errors.New("a key is to be stored")

// loginByPlugin logs in by a method that a plugin brings, chosen by its number, or by
// asking. If there are no such methods, or the person wants none of them, the error is
// [errByKey].
func loginByPlugin(ctx context.Context, env *console.Env, in *bufio.Reader, id, chosen string) error {
	if !env.StdinTTY && chosen == "" {
		return errByKey // a key comes through the pipe
	}
	return face.With(ctx, env, func(f *face.Face, _ string) error {
		all, err := f.LoginMethods(ctx)
		if err != nil {
			return err
		}
		n, err := chooseMethod(env, in, all[id], chosen)
		if err != nil {
			return err
		}
		m := all[id][n]
		inputs, err := askInputs(env, in, m.Prompts)
		if err != nil {
			return err
		}
		begun, err := f.BeginProviderLogin(ctx, id, n, inputs)
		if err != nil {
			return err
		}
		if begun.URL != "" {
			if err := finishLogin(ctx, env, in, f, id, n, begun); err != nil {
				return err
			}
		}
		fmt.Fprintf(env.Stderr, "lathe: logged in to %s\n", id)
		return nil
	})
}

func chooseMethod(env *console.Env, in *bufio.Reader, methods []api.LoginMethod, chosen string) (int, error) {
	if len(methods) == 0 {
		if chosen != "" {
			return 0, console.Usagef("no plugin brings a way to log in to it; leave out --method")
		}
		return 0, errByKey
	}
	if chosen == "" {
		for i, m := range methods {
			fmt.Fprintf(env.Stderr, "  %d  %s\n", i+1, console.Clean(m.Label))
		}
		fmt.Fprintf(env.Stderr, "  %d  store a key\nLog in how? ", len(methods)+1)
		line, err := loginAnswer(in)
		if err != nil {
			return 0, err
		}
		chosen = line
	}
	n, err := strconv.Atoi(chosen)
	for i, m := range methods {
		if strings.EqualFold(m.Label, chosen) {
			n, err = i+1, nil
		}
	}
	switch {
	case err != nil || n < 1 || n > len(methods)+1:
		return 0, console.Usagef("there is no method %q; they are numbered from 1 to %d", chosen, len(methods))
	case n == len(methods)+1 || methods[n-1].Type == "api" && !methods[n-1].Authorizes:
		return 0, errByKey
	}
	return n - 1, nil
}

func loginAnswer(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		return "", console.Usagef("no answer was given; nothing was stored")
	}
	return strings.TrimSpace(line), nil
}

// askInputs asks for what a method needs to know beforehand.
func askInputs(env *console.Env, in *bufio.Reader, prompts []api.LoginPrompt) (map[string]string, error) {
	inputs := map[string]string{}
	for _, p := range prompts {
		if !p.Applies(inputs) {
			continue
		}
		for i, o := range p.Options {
			fmt.Fprintf(env.Stderr, "  %d  %s %s\n", i+1, console.Clean(o.Label), console.Clean(o.Hint))
		}
		fmt.Fprintf(env.Stderr, "%s: ", console.Clean(strings.TrimSpace(p.Message)))
		answer, err := loginAnswer(in)
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n > 0 && n <= len(p.Options) {
			answer = p.Options[n-1].Value
		}
		inputs[p.Key] = answer
	}
	return inputs, nil
}

func finishLogin(ctx context.Context, env *console.Env, in *bufio.Reader, f *face.Face, id string, n int, begun api.LoginBegun) error {
	fmt.Fprintf(env.Stderr, "Open %s\n%s\n", console.Clean(begun.URL), console.Clean(begun.Instructions))
	code := ""
	if begun.Method == "code" {
		fmt.Fprint(env.Stderr, "Code: ")
		var err error
		if code, err = loginAnswer(in); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(env.Stderr, "waiting for the browser … (Ctrl-C ends it)")
	}
	return f.EndProviderLogin(ctx, id, n, code)
}
