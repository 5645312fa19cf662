package manage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/plugin/host"
)

// usualPlay is what a plugin is tested with if no script is named.
const usualPlay = `tool bash {"command":"echo hello","description":"say hello"}
---
tool write {"filePath":"hello.txt","content":"hello\n"}
---
text done
`

// newPluginTest is the command with which authors test a plugin. It runs the whole program.
func newPluginTest(env *console.Env, program func(*console.Env) *cobra.Command) *cobra.Command {
	var script string
	var expect []string
	cmd := &cobra.Command{
		Use: "test FILE [PROMPT]", Short: "Play a script against a plugin and print which hooks ran and what they changed", Args: cobra.RangeArgs(1, 2),
		Long: `Test runs a plugin by itself in an empty directory, with a model that plays a script in
place of a real one, and prints each hook and tool of it that was called, how long it
took and what it changed. No configuration of yours is used and no model is asked.

It fails if the plugin does not load, if a hook or tool of it fails, or if one that
--expect names was not called or changed nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return testPlugin(cmd.Context(), env, program, args, script, expect)
		},
	}
	cmd.Flags().StringVar(&script, "script", "", "file with the model's answers (default: a command, a file, an answer)")
	cmd.Flags().StringArrayVar(&expect, "expect", nil, `hook that has to be called, or "tool NAME"; HOOK=CHANGE has to change that key; repeatable`)
	return cmd
}

func testPlugin(ctx context.Context, env *console.Env, program func(*console.Env) *cobra.Command, args []string, script string, expect []string) (err error) {
	file := args[0]
	if !filepath.IsAbs(file) {
		file = filepath.Join(env.Dir, file)
	}
	if _, err := os.Stat(file); err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "name the plugin's file", "there is no file %s", file)
	}
	play := []byte(usualPlay)
	if script != "" {
		if !filepath.IsAbs(script) {
			script = filepath.Join(env.Dir, script)
		}
		if play, err = os.ReadFile(script); err != nil {
			return lathe.Errorf(lathe.CodeInvalid, "name a file with the model's answers", "the script cannot be read: %v", err)
		}
	}
	top, err := os.MkdirTemp("", "lathe-plugin-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	alone, err := aloneWith(env, top, file, play)
	if err != nil {
		return err
	}
	prompt := "test"
	if len(args) > 1 {
		prompt = args[1]
	}
	root := program(alone)
	root.SetArgs([]string{"run", "-m", "script/play.txt", prompt})
	root.SetOut(alone.Stdout)
	root.SetErr(alone.Stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	calls, err := readCalls(filepath.Join(top, "calls"))
	if err != nil {
		return err
	}
	return judgeCalls(env, calls, expect)
}

// aloneWith returns an environment in which there is a plugin and nothing else. Packages
// that are in lathe's cache are found.
func aloneWith(env *console.Env, top, file string, play []byte) (*console.Env, error) {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return nil, err
	}
	home, work := filepath.Join(top, "home"), filepath.Join(top, "work")
	for _, dir := range []string{home, work, paths.Cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	conf, err := json.Marshal(map[string]any{"permission": "allow", "plugin": []string{"file://" + filepath.ToSlash(file)}})
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(work, "play.txt"), play, 0o600), os.Symlink(paths.Cache, filepath.Join(home, "cache")))
	if err != nil {
		return nil, err
	}
	own := map[string]string{
		"LATHE_HOME": home, "HOME": home, "OPENCODE_CONFIG_CONTENT": string(conf), "LATHE_PLUGIN_WATCH": filepath.Join(top, "calls"), "OPENCODE_CONFIG": "", "OPENCODE_CONFIG_DIR": "",
		"LATHE_CONFIG": "", "LATHE_CONFIG_DIR": "", "LATHE_CONFIG_CONTENT": "", "OPENCODE_PURE": "", "LATHE_PURE": "",
	}
	alone := *env
	alone.Dir, alone.Stdout = work, env.Stderr
	alone.Getenv = func(name string) string {
		if v, ok := own[name]; ok {
			return v
		}
		return env.Getenv(name)
	}
	return &alone, nil
}

func readCalls(path string) (out []host.Watched, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var w host.Watched
		if err := dec.Decode(&w); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// judgeCalls prints what was called, and fails if something is not as it should be.
func judgeCalls(env *console.Env, calls []host.Watched, expect []string) error {
	var bad []string
	for _, w := range calls {
		fmt.Fprintf(env.Stdout, "%s\t%.1f ms\n", console.Clean(w.Hook), w.Millis)
		for _, c := range w.Changed {
			fmt.Fprintf(env.Stdout, "\t%s\n", console.Clean(c))
		}
		if w.Error != "" {
			fmt.Fprintf(env.Stdout, "\terror: %s\n", console.Clean(w.Error))
			bad = append(bad, w.Hook+" failed")
		}
	}
	if len(calls) == 0 {
		bad = append(bad, "nothing of the plugin was called (does it load? see above)")
	}
	for _, e := range expect {
		hook, key, _ := strings.Cut(e, "=")
		if !slices.ContainsFunc(calls, func(w host.Watched) bool {
			return w.Hook == hook && (key == "" || slices.ContainsFunc(w.Changed, func(c string) bool { return strings.HasPrefix(c, key+" ") }))
		}) {
			bad = append(bad, "expected and missing: "+e)
		}
	}
	if bad != nil {
		return lathe.Errorf(lathe.CodeInvalid, "", "%s", strings.Join(slices.Compact(bad), "; "))
	}
	return nil
}
