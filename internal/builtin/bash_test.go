package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

func TestBash(t *testing.T) {
	r := newRig(t)
	res := r.ok("bash", m{"command": "echo out; echo err >&2; exit 3", "description": "Print things"})
	want := tool.Result{Title: "Print things", Output: "out\nerr\n\n<bash_metadata>\nexit code 3\n</bash_metadata>", Metadata: m{
		"output": "out\nerr\n", "exit": 3, "description": "Print things", "truncated": false}}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(m{"output": "", "description": "Print things"}, r.progress[0]); diff != "" {
		t.Errorf("first progress (-want +got):\n%s", diff)
	}
	res = r.ok("bash", m{"command": "true"})
	if res.Output != "(no output)" || res.Title != "true" || res.Metadata["exit"] != 0 {
		t.Errorf("silent command: %+v", res)
	}
	r.put("sub/x", "")
	if res := r.ok("bash", m{"command": "pwd", "workdir": "sub"}); res.Output != r.path("sub")+"\n" {
		t.Errorf("workdir: %q", res.Output)
	}
	if res := r.ok("bash", m{"command": `printf 'a\xffb'`}); res.Output != "a\ufffdb" {
		t.Errorf("bytes that are no text: %q", res.Output)
	}
	if res := r.ok("bash", m{"command": "cat; echo $HOME; env | grep -c LATHE"}); !strings.HasPrefix(res.Output, r.env.Home+"\n") {
		t.Errorf("input or environment: %q", res.Output)
	}
	r.fails("bash", m{"command": "true", "workdir": "none"}, "does not exist")
	r.fails("bash", m{"command": "true", "timeout": -5}, "Invalid timeout value: -5. Timeout must be a positive number.")
	r.fails("bash", m{"command": "echo \x00"}, "NUL")
}

func TestBashAsks(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(r.env.Home, "other")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	ext := fmt.Sprintf("external_directory %s/* [%q]", outside, outside+"/*")
	tests := []struct {
		in   m
		want []string
	}{
		{m{"command": "git status --short"}, []string{`bash git status --short ["git status *"]`}},
		{m{"command": "echo x > a.txt"}, []string{"edit a.txt", `bash echo x ["echo *"]`}},
		{m{"command": "echo x > .git/hooks/pre-push"}, []string{"edit .git/hooks/pre-push ! []", `bash echo x ["echo *"]`}},
		{m{"command": "ls", "workdir": outside}, []string{ext, `bash ls ["ls *"]`}},
	}
	if err := os.Mkdir(r.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		r.ok("bash", tt.in)
		if diff := cmp.Diff(tt.want, r.asked()); diff != "" {
			t.Errorf("%v: asks (-want +got):\n%s", tt.in, diff)
		}
	}
	calls := 0
	call := r.call(m{"command": "cat ../x > a.txt; ls"})
	call.Ask = func(context.Context, tool.Request) error { calls++; return nil }
	bash, _ := r.tools.Lookup("bash")
	if _, err := bash.Run(t.Context(), call); err != nil || calls != 1 {
		t.Errorf("a command asks %d times, %v", calls, err)
	}
	r.deny = denies("bash")
	if _, err := r.run("bash", m{"command": "touch made"}); !errors.Is(err, errDenied) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(r.path("made")); err == nil {
		t.Error("a refused command ran")
	}
}

func TestBashLongOutput(t *testing.T) {
	r := newRig(t)
	res := r.ok("bash", m{"command": "seq 1 100000"})
	path, _ := res.Metadata["outputPath"].(string)
	saved, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(saved), "1\n2\n") || !strings.HasSuffix(string(saved), "99999\n100000\n") {
		t.Errorf("saved %d bytes in %q: %v", len(saved), path, err)
	}
	head, rest, _ := strings.Cut(res.Output, "\n\n... lines ")
	if want := " of 100,000 left out; the whole output is in " + path + " ...\n\n"; !strings.HasPrefix(head, "1\n2\n") || !strings.Contains(rest, want) ||
		!strings.HasSuffix(rest, "\n100000\n") || len(res.Output) > 21_000 || strings.Count(res.Output, "\n") != 2003 {
		t.Errorf("%d bytes of output: %.120q … %q", len(res.Output), rest, res.Output[len(res.Output)-20:])
	}
	shown := res.Metadata["output"].(string)
	if !strings.HasPrefix(shown, "...\n\n") || len(shown) != previewChars+5 || res.Metadata["truncated"] != true {
		t.Errorf("preview of %d bytes, metadata truncated %v", len(shown), res.Metadata["truncated"])
	}
	res = r.ok("bash", m{"command": "yes | head -n 3000"}) // few bytes, many lines
	path, _ = res.Metadata["outputPath"].(string)
	if saved, err := os.ReadFile(path); err != nil || len(saved) != 6000 || strings.Count(res.Output, "y\n") < 1990 || !strings.Contains(res.Output, "... lines 501 to 1,500 of 3,000 left out;") {
		t.Errorf("saved %d bytes: %v", len(saved), err)
	}
	res = r.ok("bash", m{"command": "head -c 200000 /dev/zero | tr '\\0' x"}) // one line
	if len(res.Output) > 21_000 || !strings.Contains(res.Output, "... 179,520 of 200,000 bytes left out;") || !strings.HasSuffix(res.Output, "xxx") {
		t.Errorf("one long line gives %d bytes", len(res.Output))
	}
}

// The first error of a long output is told with what follows it, wherever it is.
func TestBashFirstError(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{9_000, 90_000} { // within and beyond what memory holds
		res := r.ok("bash", m{"command": fmt.Sprintf("seq 1 %d; echo 'a.c:3: error: no such thing'; echo '  int x;'; seq 1 %d; echo 'b.c:9: error: another'; exit 2", n, n)})
		want := fmt.Sprintf("\nfirst error in that, line %s:\na.c:3: error: no such thing\n  int x;\n1\n2\n...\n", grouped(int64(n+1)))
		if !strings.Contains(res.Output, want) || !strings.HasSuffix(res.Output, "b.c:9: error: another\n\n<bash_metadata>\nexit code 2\n</bash_metadata>") {
			t.Errorf("%d: %q", n, res.Output[len(res.Output)/5:])
		}
	}
	if res := r.ok("bash", m{"command": "echo error: early; seq 1 90000"}); strings.Contains(res.Output, "first error") {
		t.Error("an error that is shown is told again")
	}
}

// A model with a small window is shown less, and nobody more than tool_output says.
func TestBashSmallWindow(t *testing.T) {
	small := lathe.ModelRef{Provider: "a", Model: "small"}
	e := shellTools{&Env{Limits: &tool.Limits{}, Window: func(ref lathe.ModelRef) int {
		return map[string]int{"small": 48_000, "tiny": 4_000, "big": 1 << 20}[ref.Model]
	}}}
	got := map[string]int{"any": e.shown(lathe.ModelRef{})}
	for _, model := range []string{"small", "tiny", "big", "unknown"} {
		got[model] = e.shown(lathe.ModelRef{Provider: "a", Model: model})
	}
	e.Limits = &tool.Limits{MaxBytes: 99}
	got["set"] = e.shown(small)
	want := map[string]int{"any": 20 << 10, "small": 6000, "tiny": 4 << 10, "big": 20 << 10, "unknown": 20 << 10, "set": 99}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a command redraws for a terminal is told as it stands in the end.
func TestBashTerminalOutput(t *testing.T) {
	r := newRig(t)
	res := r.ok("bash", m{"command": `printf '\033[31mred\033[0m\r\n'; for i in $(seq 1 5000); do printf '\rdone %d%%' $i; done; printf '\nab\b\bcd\n\033]0;title\007end\n'`})
	if res.Output != "red\ndone 5000%\ncd\nend\n" || res.Metadata["truncated"] != false {
		t.Errorf("%.200q, truncated %v", res.Output, res.Metadata["truncated"])
	}
}

// How a command ended is told where that says more than its output.
func TestBashEnding(t *testing.T) {
	r := newRig(t)
	for command, want := range map[string]string{
		"exit 1":                         "(no output)\n\n<bash_metadata>\nexit code 1\n</bash_metadata>",
		"nonesuch 2>/dev/null":           "(no output)\n\n<bash_metadata>\nexit code 127 (a command was not found)\n</bash_metadata>",
		"sh -c 'kill -9 $$'; (exit 137)": "exit code 137 (the last part was ended by signal 9, killed)\n</bash_metadata>",
		"true | true":                    "(no output)",
		"echo 'not a terminal'; exit 1":  "exit code 1\nCommands have no terminal and nobody to answer: give everything as arguments (git commit -m …), and use edit or write in place of an editor.\n</bash_metadata>",
	} {
		if res := r.ok("bash", m{"command": command}); !strings.HasSuffix(res.Output, want) || res.Failed {
			t.Errorf("%s: %q", command, res.Output)
		}
	}
}

// An editor would wait for keys that nobody types until the timeout.
func TestBashEditors(t *testing.T) {
	r := newRig(t)
	for _, command := range []string{"vim a.txt", "git status; vi a.txt", "sudo nvim a.txt", "bash -c 'view a.txt'"} {
		r.fails("bash", m{"command": command}, "waits for keys, and commands have no terminal: nothing was run.")
	}
	r.env.Runner = runnerFunc(func(context.Context, shell.Command) (shell.Exit, error) { return shell.Exit{}, nil })
	r.tools = tool.NewRegistry(New(r.env)...)
	for _, command := range []string{"vim -c ':%s/a/b/' -c wq a.txt", "vim -es a.txt", "nvim --headless +q", "echo :q | vim a.txt", "which vim", "vim --version"} {
		if res := r.ok("bash", m{"command": command}); res.Failed {
			t.Errorf("%s: %s", command, res.Output)
		}
	}
}

// The first error is the same however the output is cut into pieces.
func FuzzLookout(f *testing.F) {
	f.Add([]byte("a\nerror: b\nc\nd\ne\nerror: f\n"), 3, 2)
	f.Add([]byte("ok\r\nFAIL x\n"), 1, 0)
	f.Fuzz(func(t *testing.T, text []byte, size, skip int) {
		if size < 1 || skip < 0 || len(text) > 4000 {
			return
		}
		whole, pieces := lookout{skip: skip}, lookout{skip: skip}
		whole.write(text)
		for chunk := range slices.Chunk(text, size) {
			pieces.write(chunk)
		}
		if whole.lines != pieces.lines || whole.lines != bytes.Count(text, []byte{'\n'}) || whole.at != pieces.at || !bytes.Equal(whole.text, pieces.text) {
			t.Errorf("whole: line %d of %d %q; pieces of %d: line %d of %d %q", whole.at, whole.lines, whole.text, size, pieces.at, pieces.lines, pieces.text)
		}
		if plain(text); utf8.Valid(text) && strings.ContainsRune(plain(text), '\x1b') {
			t.Errorf("an escape sequence is left: %q", plain(text))
		}
	})
}

func TestBashTimeout(t *testing.T) {
	r := newRig(t)
	limit := 200
	res := r.ok("bash", m{"command": "echo begun; sleep 600", "timeout": limit})
	for !strings.HasPrefix(res.Output, "begun") && limit < 60_000 { // a busy machine takes longer to begin
		limit *= 2
		res = r.ok("bash", m{"command": "echo begun; sleep 600", "timeout": limit})
	}
	if !strings.HasPrefix(res.Output, fmt.Sprintf("begun\n\n<bash_metadata>\nThe command was stopped when its timeout of %d ms ran out.", limit)) ||
		!strings.HasSuffix(res.Output, "\n</bash_metadata>") || res.Metadata["exit"] != nil {
		t.Errorf("exit %v, output:\n%s", res.Metadata["exit"], res.Output)
	}
}

func TestBashAbort(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.env.Runner = runnerFunc(func(ctx context.Context, c shell.Command) (shell.Exit, error) {
		c.Output([]byte("begun\n"))
		cancel()
		return shell.Exit{Code: -1, Aborted: true}, nil
	})
	r.tools = tool.NewRegistry(New(r.env)...)
	res, err := r.runContext(ctx, "bash", m{"command": "sleep 60"})
	if err != nil || res.Output != "begun\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestBashLeftover(t *testing.T) {
	r := newRig(t)
	res := r.ok("bash", m{"command": "sleep 300 & echo started"})
	if !strings.HasPrefix(res.Output, "started\n\n<bash_metadata>\nProcesses that were still running when the command ended were stopped: sleep") {
		t.Errorf("output:\n%s", res.Output)
	}
}

type runnerFunc func(context.Context, shell.Command) (shell.Exit, error)

func (f runnerFunc) Run(ctx context.Context, c shell.Command) (shell.Exit, error) { return f(ctx, c) }

// Previews come at most 30 times a second, the last output is shown though no
// more follows, and none comes after the end.
func TestBashProgress(t *testing.T) {
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.env.Runner = runnerFunc(func(_ context.Context, c shell.Command) (shell.Exit, error) {
			for i := range 1000 {
				c.Output(fmt.Appendf(nil, "%d\n", i))
				time.Sleep(time.Millisecond)
			}
			c.Output([]byte("last\n"))
			time.Sleep(time.Second)
			synctest.Wait()
			r.mu.Lock()
			shown, _ := r.progress[len(r.progress)-1]["output"].(string)
			r.mu.Unlock()
			if !strings.HasSuffix(shown, "last\n") {
				t.Errorf("a quiet command shows %q", shown[max(0, len(shown)-20):])
			}
			c.Output([]byte("end\n"))
			return shell.Exit{}, nil
		})
		tools := tool.NewRegistry(New(r.env)...)
		bash, _ := tools.Lookup("bash")
		res, err := bash.Run(t.Context(), r.call(m{"command": "x"}))
		if err != nil || !strings.HasSuffix(res.Output, "end\n") {
			t.Errorf("%v, %v", res, err)
		}
		n := len(r.progress)
		if n > 33 || n < 20 {
			t.Errorf("%d previews in one second", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(r.progress) != n {
			t.Error("a preview came after the end")
		}
	})
}

func BenchmarkBashTrue(b *testing.B) {
	r := newRig(b)
	b.ReportAllocs()
	for b.Loop() {
		r.ok("bash", m{"command": "true"})
		r.asks, r.progress = r.asks[:0], r.progress[:0]
	}
}
