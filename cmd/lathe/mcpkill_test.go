package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"

	"lathe/internal/llm/llmtest"
)

// TestMCPServersDieWithLathe holds that MCP servers which ignore every signal that can be
// ignored, with children of theirs that do, too, live no longer than lathe, however it
// ends.
func TestMCPServersDieWithLathe(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, sig := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "ended": syscall.SIGTERM, "done": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mark := fmt.Sprintf("LATHE_KILL_MARK=mcp-%d-%s", os.Getpid(), name)
			w.env = append(w.env, "LATHE_TRUST=1")
			w.write("opencode.json", fmt.Sprintf(`{"mcp":{"hall":{"type":"local","command":[%q],"environment":{"MCP_TEST_SERVER":"stays","LATHE_KILL_MARK":%q}}}}`, self, mark[len("LATHE_KILL_MARK="):]))
			script := llmtest.Script{
				{Blocks: []llmtest.Block{llmtest.Call{Name: "mcp_search", Args: `{"query":"echo"}`}}},
				{Blocks: []llmtest.Block{llmtest.Call{Name: "hall_echo", Args: `{"text":"hi"}`}}},
			}
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
				if n := len(marked(t, mark)); n < 2 { // the server and its child
					t.Errorf("only %d processes run: %q", n, marked(t, mark))
				}
				_ = cmd.Process.Signal(sig)
			}
			if code := w.wait(cmd); sig == 0 && code != 0 {
				t.Errorf("exit code %d: %s", code, errs.String())
			}
			noneLeft(t, name, mark)
			if sig == 0 && !bytes.Contains(asked(t, s)[2].Body, []byte("you said hi")) {
				t.Errorf("the server did not serve: %s", asked(t, s)[2].Body)
			}
		})
	}
}
