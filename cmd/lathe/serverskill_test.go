package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// TestServersDieWithLathe holds that language servers which ignore every signal that can be
// ignored, with children of theirs that do, too, live no longer than lathe, however it
// ends.
func TestServersDieWithLathe(t *testing.T) {
	diesWithLathe(t, "lsp", 3, "bad word", func(w *world, self, mark string) llmtest.Script { // the server, its child and the command; lathe lets nobody read its own
		w.env = append(w.env, killMark+"="+mark)
		w.write("opencode.json", fmt.Sprintf(`{"lsp":{"mine":{"command":[%q],"extensions":[".fake"],"env":{"LSP_FAKE":"stays push"}}}}`, self))
		return llmtest.Script{{Blocks: []llmtest.Block{
			llmtest.Call{Name: "write", Args: fmt.Sprintf(`{"filePath":%q,"content":"bad\n"}`, filepath.Join(w.dir, "a.fake"))},
		}}}
	})
}

// TestMCPServersDieWithLathe holds the same of MCP servers.
func TestMCPServersDieWithLathe(t *testing.T) {
	diesWithLathe(t, "mcp", 2, "you said hi", func(w *world, self, mark string) llmtest.Script { // the server and its child
		w.write("opencode.json", fmt.Sprintf(`{"mcp":{"hall":{"type":"local","command":[%q],"environment":{"MCP_TEST_SERVER":"stays",%q:%q}}}}`, self, killMark, mark))
		return llmtest.Script{
			{Blocks: []llmtest.Block{llmtest.Call{Name: "mcp_search", Args: `{"query":"echo"}`}}},
			{Blocks: []llmtest.Block{llmtest.Call{Name: "hall_echo", Args: `{"text":"hi"}`}}},
		}
	})
}

// killMark is the variable by which the processes of a test are found.
const killMark = "LATHE_KILL_MARK"

// diesWithLathe ends lathe in three ways while servers run that set up configures, with at
// least so many processes, and returns what a model does with them; the request after
// that says what they served.
func diesWithLathe(t *testing.T, kind string, least int, served string, setUp func(w *world, self, mark string) llmtest.Script) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, sig := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "ended": syscall.SIGTERM, "done": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env = append(w.env, "LATHE_TRUST=1")
			mark := fmt.Sprintf("%s-%d-%s", kind, os.Getpid(), name)
			script := setUp(w, self, mark)
			last := len(script)
			mark = killMark + "=" + mark
			if sig != 0 {
				script = append(script, llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"touch ready; sleep 1000","description":"wait"}`}}})
			}
			s := w.model("anthropic", append(script, llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("done")}}))
			cmd := w.command("run", "work")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if sig != 0 {
				w.await("ready")
				late := time.Now().Add(stuck)
				for len(marked(t, mark)) < least { // nothing waits for all that a server starts
					if time.Now().After(late) {
						t.Fatalf("too few processes run: %q", marked(t, mark))
					}
					time.Sleep(10 * time.Millisecond)
				}
				_ = cmd.Process.Signal(sig)
			}
			if code := w.wait(cmd); sig == 0 && code != 0 {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			noneLeft(t, name, mark)
			if sig == 0 && !bytes.Contains(asked(t, s)[last].Body, []byte(served)) {
				t.Errorf("the server did not serve: %s", asked(t, s)[last].Body)
			}
		})
	}
}
