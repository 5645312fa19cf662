package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// viaServer has "lathe run" in scripts work through a server: "tcp" or "unix".
const viaServer = "LATHE_TEST_ATTACH"

// scriptMain is lathe in scripts.
func scriptMain() {
	if kind := os.Getenv(viaServer); kind != "" && len(os.Args) > 1 && os.Args[1] == "run" && !slices.Contains(os.Args, "--help") {
		code, err := runAttached(kind, os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "attached:", err)
			code = 99
		}
		os.Exit(code)
	}
	main()
}

// runAttached starts a server for one run, in the environment of the script as it
// is by then, and ends it afterwards.
func runAttached(kind string, args []string) (code int, err error) {
	environ := append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, viaServer+"=") }), asMain+"=1")
	serve := exec.Command(os.Args[0], "serve", "--port", "0")
	if kind == "unix" {
		dir, err := os.MkdirTemp("", "s")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		serve.Args = append(serve.Args, "--socket", filepath.Join(dir, "s"))
	}
	serve.Env = environ
	out, err := serve.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := serve.Start(); err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, serve.Process.Signal(syscall.SIGTERM), serve.Wait())
	}()
	address := ""
	for sc := bufio.NewScanner(out); address == "" && sc.Scan(); {
		if at, ok := strings.CutPrefix(sc.Text(), "lathe server listening on "); ok && strings.HasPrefix(at, "unix:") == (kind == "unix") {
			address = at
		}
	}
	if address == "" {
		return 0, errors.New("the server does not listen")
	}
	run := exec.Command(os.Args[0], append([]string{"run", "--attach", address}, args...)...)
	run.Env, run.Stdin, run.Stdout, run.Stderr = environ, os.Stdin, os.Stdout, os.Stderr
	err = run.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode(), nil
	}
	return 0, err
}

// TestScriptsAttached runs scripts against a server as well: what lathe run prints
// and exits with is the same. The scripts that are left out are about how a process
// begins, or hold that none was there.
func TestScriptsAttached(t *testing.T) {
	for kind, names := range map[string][]string{
		"unix": {
			"approvals", "badmodel", "dir", "engine", "exitcodes", "files", "history", "httperrors", "json", "limits", "message",
			"overflow", "permission", "reopen", "repeat", "session", "streams", "terminal", "trust", "undo", "unknownmodel",
		},
		"tcp": {"json", "limits", "permission"},
	} {
		t.Run(kind, func(t *testing.T) {
			p := scriptParams()
			setup := p.Setup
			p.Setup = func(e *testscript.Env) error {
				e.Setenv(viaServer, kind)
				return setup(e)
			}
			p.Dir = ""
			for _, name := range names {
				p.Files = append(p.Files, filepath.Join("testdata", name+".txtar"))
			}
			testscript.Run(t, p)
		})
	}
}
