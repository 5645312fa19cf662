package mcp

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/config"
)

// published is the directory with published servers, or skips the test.
func published(t *testing.T) string {
	dir := os.Getenv("LATHE_MCP_SERVERS")
	if dir == "" {
		t.Skip("LATHE_MCP_SERVERS is not set: .ci/mcp installs the servers and runs this")
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// TestPublishedServers uses servers that people use.
func TestPublishedServers(t *testing.T) {
	bin, dir := published(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the text"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := func(name, program string, args ...string) config.MCP {
		return config.MCP{Name: name, Type: "local", Command: append([]string{filepath.Join(bin, program)}, args...)}
	}
	memory := server("memory", "mcp-server-memory")
	memory.Environment = map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}
	r := newRig(t, dir, nil, server("everything", "mcp-server-everything"), server("files", "mcp-server-filesystem", dir), memory,
		server("think", "mcp-server-sequential-thinking"), server("context7", "context7-mcp")).ready()
	for call, want := range map[string]string{
		`everything_echo {"message":"hi"}`:                                                                       "Echo: hi",
		`everything_get-sum {"a":2,"b":3}`:                                                                       "5",
		`everything_get-structured-content {"location":"New York"}`:                                              "temperature",
		`files_read_text_file {"path":"` + filepath.Join(dir, "a.txt") + `"}`:                                    "the text",
		`memory_create_entities {"entities":[{"name":"x","entityType":"t","observations":["o"]}]}`:               `"x"`,
		`think_sequentialthinking {"thought":"a","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`: "thoughtNumber",
	} {
		key, args, _ := strings.Cut(call, " ")
		if got := r.do(t.Context(), key, args); got.Failed || !strings.Contains(got.Output, want) {
			t.Errorf("%s: %+v", call, got)
		}
	}
	if got := r.do(t.Context(), "everything_get-tiny-image", "{}"); len(got.Attachments) != 1 || got.Attachments[0].MIME != "image/png" {
		t.Errorf("the image: %+v", got.Attachments)
	}
	if len(r.Resources()) == 0 || len(r.Prompts()) == 0 {
		t.Error("no resources or prompts")
	}
}

// TestPublishedTransports reaches one server by each of its transports.
func TestPublishedTransports(t *testing.T) {
	bin := published(t)
	for kind, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(kind, func(t *testing.T) {
			port := freePort(t)
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "mcp-server-everything"), kind)
			cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
			out, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			for in := bufio.NewScanner(out); in.Scan(); {
				if c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
					c.Close()
					break
				}
			}
			r := newRig(t, "", nil, config.MCP{Name: "e", Type: "remote", URL: "http://127.0.0.1:" + strconv.Itoa(port) + path}).ready()
			if got := r.do(t.Context(), "e_echo", `{"message":"hi"}`).Output; got != "Echo: hi" {
				t.Errorf("got %q", got)
			}
		})
	}
}
