//go:build unix

package team

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// clock says how far a process's time of day is away from the machine's. It may jump while
// the process runs. What a process measures (how long something takes, when a wait ends) goes
// on as before, as it does on a machine whose clock is set.
type clock struct{ path string }

func newClock(t testing.TB, path string) *clock {
	t.Helper()
	c := &clock{path}
	must(t, os.WriteFile(path, make([]byte, 8), 0o600))
	return c
}

// set has the clock jump to where it is so far ahead of the machine's, or behind it.
func (c *clock) set(t testing.TB, ahead time.Duration) {
	f, err := os.OpenFile(c.path, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return
	}
	var raw [8]byte
	binary.NativeEndian.PutUint64(raw[:], uint64(ahead))
	if _, err := f.WriteAt(raw[:], 0); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// buildSkewed builds a lathe whose clock [clock] sets. The compiler is given another time.Now
// and one file more of lathe's main, so that all that lathe is made of has the same clock.
func buildSkewed(t testing.TB, bin, scratch string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	now := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	src, err := os.ReadFile(now)
	must(t, err)
	const begin = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(src), begin) != 1 {
		t.Fatalf("time.Now of %s is not as it was known; adapt this test", runtime.Version())
	}
	skewed := strings.Replace(string(src), begin, "var Skew *int64\n\n"+begin+`	if Skew != nil {
		at := sec*1e9 + int64(nsec) + *Skew
		sec, nsec = at/1e9, int32(at%1e9)
	}
`, 1)
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "lathe/cmd/lathe").Output()
	must(t, err)
	extra, err := filepath.Abs(filepath.Join("testdata", "clock", "clock.go"))
	must(t, err)
	other, overlay := filepath.Join(scratch, "time.go"), filepath.Join(scratch, "overlay.json")
	must(t, os.WriteFile(other, []byte(skewed), 0o600))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		now: other, filepath.Join(strings.TrimSpace(string(dir)), "clock.go"): extra,
	}})
	must(t, err)
	must(t, os.WriteFile(overlay, replace, 0o600))
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", bin, "lathe/cmd/lathe").CombinedOutput(); err != nil {
		t.Fatalf("build: %v %s", err, out)
	}
}
