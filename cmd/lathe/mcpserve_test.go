package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPServe drives lathe as a server of the model context protocol: prompts, goes on,
// looks and searches; a permission is asked for where the client shows questions, and
// refused where it does not.
func TestMCPServe(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string // to the ask; empty: the client shows no questions
		ran    bool
	}{"allowed": {"Allow once", true}, "rejected": {"Refuse", false}, "nobody": {"", false}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"repo/go.txt":                  "tool bash {\"command\":\"echo done > made.txt\",\"description\":\"make\"}\n---\ntext all done\n---\ntext and more\n",
				"home/lathe/config/lathe.json": `{"permission":{"bash":"ask"}}`,
			} {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "mcp", "serve")
			cmd.Dir = filepath.Join(dir, "repo")
			cmd.Env = append(hermetic(), asMain+"=1", "PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(dir, "home"), "LATHE_HOME="+filepath.Join(dir, "home/lathe"))
			var asked []string
			o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
			if tt.answer != "" {
				o.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = append(asked, req.Params.Message)
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": tt.answer}}, nil
				}
			}
			s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			call := func(name string, args map[string]any) string {
				t.Helper()
				res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
				if err != nil {
					t.Fatal(err)
				}
				text := res.Content[0].(*mcp.TextContent).Text
				if res.IsError {
					text = "error: " + text
				}
				return text
			}
			said := call("prompt", map[string]any{"text": "make it", "model": "script/go.txt"})
			_, err = os.Stat(filepath.Join(dir, "repo/made.txt"))
			if (err == nil) != tt.ran || tt.ran && !strings.Contains(said, "all done") {
				t.Errorf("it said %q, and the command ran: %v", said, err == nil)
			}
			if tt.answer != "" && (len(asked) != 1 || !strings.Contains(asked[0], "bash")) {
				t.Errorf("asked %q", asked)
			}
			id := regexp.MustCompile(`ses_\w+`).FindString(said)
			if !tt.ran {
				return
			}
			if got := call("prompt", map[string]any{"text": "more", "session": id, "model": "script/go.txt"}); !strings.Contains(got, "and more") || !strings.Contains(got, id) {
				t.Errorf("going on: %q", got)
			}
			if got := call("session_state", map[string]any{"session": id}); !strings.Contains(got, "status: idle") || !strings.Contains(got, "user: make it") {
				t.Errorf("its state: %q", got)
			}
			if got := call("search_sessions", map[string]any{"query": "done"}); !strings.Contains(got, id) {
				t.Errorf("found: %q", got)
			}
			if got := call("session_state", map[string]any{"session": "ses_none"}); !strings.HasPrefix(got, "error: ") {
				t.Errorf("an unknown session: %q", got)
			}
		})
	}
}
