package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/llm/llmtest"
)

// scenario is one mistake in one small piece of work.
type scenario struct {
	class, name string
	files       map[string]string // of the repository, beside the usual ones
	config      map[string]any    // keys of the configuration
	agent       string
	window      int    // tokens of the model's; 0: 128,000
	git         bool   // the repository has a commit
	setup       string // a script that prepares the repository
	play        func(*model)
	done        func(dir string) error // whether the work was done; nil: what the model saw counts
}

// program is a harness: its command line is that of lathe and OpenCode.
type program struct {
	name   string
	path   string
	env    []string
	strict bool // requests that a provider would refuse fail
	limit  time.Duration
}

// outcome is how one play of a scenario went.
type outcome struct {
	steps          int
	untold, silent []string
	err            error // the work was not done, and why
	log            []string
}

// usual are the files of every repository.
var usual = map[string]string{
	"main.go":      "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n",
	"go.mod":       "module example\n\ngo 1.22\n",
	"cli/cli.go":   "package cli\n\n// Run runs.\nfunc Run() int {\n\treturn 0\n}\n",
	"docs/list.md": "one\ntwo\nthree\n",
}

// play runs a scenario in a fresh home and repository.
func (p *program) play(ctx context.Context, s *scenario, errs bool) (out outcome) {
	base, err := os.MkdirTemp("", "lathe-desk-")
	if err != nil {
		return outcome{err: err}
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return outcome{err: err}
	}
	dir, home := filepath.Join(base, "repo"), filepath.Join(base, "home")
	if err := s.prepare(ctx, dir, home); err != nil {
		return outcome{err: err}
	}
	m := &model{errs: errs}
	stop := m.start(s.play)
	defer stop()
	opts := []llmtest.Option{llmtest.Answering(m.answer)}
	if !p.strict {
		opts = append(opts, llmtest.Lenient())
	}
	server, err := llmtest.Start(nil, opts...)
	if err != nil {
		return outcome{err: err}
	}
	defer server.Close()
	if err := configure(home, server.URL, s); err != nil {
		return outcome{err: err}
	}
	said, err := p.run(ctx, s, dir, home)
	m.mu.Lock()
	defer m.mu.Unlock()
	out = outcome{steps: m.steps, untold: m.untold, silent: m.silent, log: append(m.log, "= "+said), err: err}
	for _, r := range server.Requests() {
		if r.Rejected != "" && p.strict {
			out.err = fmt.Errorf("a request was refused: %s", r.Rejected)
		}
	}
	switch {
	case out.err != nil:
	case m.ended:
		out.err = errors.New("the model gave up")
	case !m.through:
		out.err = errors.New("the run ended before the work was done")
	case s.done != nil:
		out.err = s.done(dir)
	}
	return out
}

// run starts the program and waits for its end. That it could not do all of the work is
// no error: the scenario reports that.
func (p *program) run(ctx context.Context, s *scenario, dir, home string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	argv := []string{"run", "-m", "mock/desk"}
	if s.agent != "" {
		argv = append(argv, "--agent", s.agent)
	}
	cmd := exec.CommandContext(ctx, p.path, append(argv, "Do the work.")...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC", "TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_DATA_HOME=" + filepath.Join(home, ".local/share"),
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.com",
	}, p.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
		return fmt.Sprintf("%s\n[%v]", &out, err), nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it did not end within %v", p.limit)
	}
	return out.String(), err
}

func (s *scenario) prepare(ctx context.Context, dir, home string) error {
	for _, files := range []map[string]string{usual, s.files} {
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				return err
			}
		}
	}
	script := "git init -q -b main; " + s.setup
	if s.git {
		script += "\ngit add -A && git -c user.name=n -c user.email=n@example.com commit -qm first"
	}
	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("prepare the repository: %w\n%s", err, out)
	}
	return nil
}

// configure writes the configuration that every program reads, and an empty catalogue
// that keeps OpenCode off the network.
func configure(home, url string, s *scenario) error {
	window := s.window
	if window == 0 {
		window = 128_000
	}
	conf := map[string]any{
		"autoupdate": false, "share": "disabled", "model": "mock/desk", "small_model": "mock/desk", "lsp": false, "formatter": false,
		"enabled_providers": []string{"mock"},
		"provider": map[string]any{"mock": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": map[string]any{"baseURL": url + "/v1", "apiKey": "x"},
			"models": map[string]any{"desk": map[string]any{"name": "desk", "tool_call": true, "limit": map[string]any{"context": window, "output": 16_000}}},
		}},
	}
	for key, value := range s.config {
		conf[key] = value
	}
	data, err := json.Marshal(conf)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		".config/opencode/opencode.json": string(data), ".cache/opencode/models.json": "{}", ".cache/opencode/version": "18",
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// holds reports unless a file of the repository has exactly this text.
func holds(name, text string) func(string) error {
	return func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if string(data) != text {
			return fmt.Errorf("%s holds %q, and not %q", name, data, text)
		}
		return nil
	}
}

// contains reports unless a file of the repository has all of these texts.
func contains(name string, texts ...string) func(string) error {
	return func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		for _, text := range texts {
			if !strings.Contains(string(data), text) {
				return fmt.Errorf("%s holds %q, without %q", name, data, text)
			}
		}
		return nil
	}
}
