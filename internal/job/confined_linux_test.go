package job

import (
	"os/exec"
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
