package job

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// A confined job has the terminal that it was given and can open others, of its own, but
// sees none of the person's.
func TestConfinedJobHasItsTerminal(t *testing.T) {
	if sandbox.Detect() < sandbox.Full {
		t.Skip(sandbox.Missing())
	}
	box := sandbox.NewBox(sandbox.Options{})
	t.Cleanup(func() { box.Close() })
	r, _ := keeping(t)
	script := `tty && echo written > $(tty); echo x > /dev/tty; ls /dev/pts; stty size; `
	want := []string{"/dev/console", "written", "x", "ptmx", "24 80"}
	if _, err := exec.LookPath("script"); err == nil {
		script += `script -qec 'tty; echo inner' /dev/null; `
		want = append(want, "/dev/pts/0", "inner")
	}
	s := r.describe("ses_a", script+`echo "the end"`)
	s.Terminal, s.Rows, s.Cols = true, 24, 80
	s.Runner = r.runner.Confined(func(shell.Kind) (*sandbox.Box, sandbox.Policy) { return box, sandbox.Policy{Write: []string{r.dir}} })
	j, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(strings.ReplaceAll(text(j, j.Look(t.Context(), Look{End: true, For: patience})), "\r", "")), " ")
	if w := strings.Join(append(want, "the end"), " "); got != w {
		t.Errorf("got  %q\nwant %q", got, w)
	}
}

// What steers programs and appeared while a job ran is the person's: it stays when the job
// ends. The job itself cannot make such a file.
func TestEndOfAJobUndoesNothing(t *testing.T) {
	if sandbox.Detect() == sandbox.RulesOnly {
		t.Skip(sandbox.Missing())
	}
	box := sandbox.NewBox(sandbox.Options{})
	t.Cleanup(func() { box.Close() })
	r, _ := keeping(t)
	at := func(name string) string { return filepath.Join(r.dir, name) }
	policy := sandbox.Policy{
		Write:  []string{r.dir},
		Aside:  at("aside"),
		Forbid: func(path string, _ bool) bool { return filepath.Base(path) == "forbidden" },
		Protect: func() []string {
			return slices.DeleteFunc([]string{at("theirs"), at("forbidden")}, func(path string) bool {
				_, err := os.Lstat(path)
				return err != nil
			})
		},
	}
	s := r.describe("ses_a", `until [ -e go ]; do sleep 0.01; done; echo x > forbidden; echo "the end"`)
	s.Runner = r.runner.Confined(func(shell.Kind) (*sandbox.Box, sandbox.Policy) { return box, policy })
	j, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"theirs", "go"} {
		if err := os.WriteFile(at(name), []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said := text(j, j.Look(t.Context(), Look{End: true, For: patience})); !strings.Contains(said, "the end") {
		t.Errorf("it said %q", said)
	}
	if got, err := os.ReadFile(at("theirs")); err != nil || string(got) != "theirs" {
		t.Errorf("what was made meanwhile: %q, %v", got, err)
	}
	if _, err := os.Lstat(at("forbidden")); err == nil {
		t.Error("the job made a protected file")
	}
}
