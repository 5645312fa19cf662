package shell

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A command has its three standard descriptors and none of lathe's, not even one
// that lathe inherited open for its children.
func TestNoDescriptorsAreInherited(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	out, _ := run(t, t.Context(), New(Options{}), Command{Script: "exec ls /proc/self/fd"})
	if diff := cmp.Diff([]string{"0", "1", "2", "3"}, strings.Fields(out)); diff != "" { // 3 is the directory
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A command cannot read the environment that lathe was started with, while lathe
// itself can; the mark of an outer lathe stays.
func TestEnvironmentOfLatheIsHidden(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SHELL_TEST_HIDDEN=pass-word", markVar+"=abc.1;")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "pass-word") || !strings.HasSuffix(string(out), "end\n") {
		t.Errorf("%v, %s", err, out)
	}
	if os.Geteuid() == 0 && !strings.Contains(string(out), markVar+"=abc.1;") {
		t.Errorf("the mark is gone: %s", out)
	}
}
