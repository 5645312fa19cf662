package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lathe/internal/llm/llmtest"
	"lathe/internal/sandbox/kerneltest"
)

// dieAtRenameEnv lets a process die when it is about to rename a file: the moment
// at which one that replaces another is whole and has not taken its place.
const dieAtRenameEnv = "LATHE_TEST_DIE_AT_RENAME"

func init() {
	if os.Getenv(asMain) == "" || os.Getenv(dieAtRenameEnv) == "" {
		return
	}
	err := kerneltest.FilterCalls([]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_RENAMEAT, Jt: 2},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_RENAMEAT2, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "no fault injected:", err)
	}
}

// TestKilledWhileReplacing kills runs while their tools replace files. The next
// lathe, wherever it is started and whatever it does, takes away what they left.
func TestKilledWhileReplacing(t *testing.T) {
	t.Parallel()
	call := func(name, format string, args ...any) llmtest.Block {
		return llmtest.Call{Name: name, Args: fmt.Sprintf(format, args...)}
	}
	for name, block := range map[string]func(dir string) llmtest.Block{
		"write": func(dir string) llmtest.Block {
			return call("write", `{"filePath":%q,"content":"new\n"}`, dir+"/sub/new.txt")
		},
		"edit": func(string) llmtest.Block {
			return call("edit", `{"filePath":"sub/a.txt","oldString":"one","newString":"two"}`)
		},
		"multiedit": func(string) llmtest.Block {
			return call("multiedit", `{"filePath":"sub/a.txt","edits":[{"oldString":"one","newString":"two"}]}`)
		},
		"link": func(string) llmtest.Block {
			return call("edit", `{"filePath":"link.txt","oldString":"one","newString":"two"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := os.Mkdir(filepath.Join(w.dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.write("sub/a.txt", "one\n")
			w.write(".gitignore", "sub/\n") // so that no snapshot looks there
			if err := os.Symlink("sub/a.txt", filepath.Join(w.dir, "link.txt")); err != nil {
				t.Fatal(err)
			}
			text := func(s string) llmtest.Step { return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text(s)}} }
			first := llmtest.Step{Blocks: []llmtest.Block{
				call("read", `{"filePath":"sub/a.txt"}`), call("bash", `{"command":"true","description":"does nothing"}`),
			}}
			w.model("anthropic", llmtest.Script{first, text("the snapshot store is there")})
			w.must(w.run("run", "begin"))

			w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{block(w.dir)}}, text("not reached")})
			cmd := w.command("run", "-c", "--permission", "allow", "work")
			cmd.Env = append(cmd.Env, dieAtRenameEnv+"=1")
			r := w.finish(cmd)
			if left := temporaries(t, w.dir); r.code >= 0 || len(left) != 1 {
				t.Fatalf("exit code %d, temporary files %q\n%s", r.code, left, r.stderr)
			}
			w.must(w.run("session", "list"))
			if left := temporaries(t, w.dir); len(left) != 0 {
				t.Errorf("temporary files are left: %q", left)
			}
			if data, err := os.ReadFile(filepath.Join(w.dir, "sub/a.txt")); err != nil || string(data) != "one\n" {
				t.Errorf("the file reads %q, %v", data, err)
			}
		})
	}
}

// temporaries are the files below a directory that were to replace others.
func temporaries(t *testing.T, dir string) (found []string) {
	t.Helper()
	for _, path := range filesIn(t, dir) {
		if strings.HasPrefix(filepath.Base(path), ".lathe-") {
			found = append(found, path)
		}
	}
	return found
}
