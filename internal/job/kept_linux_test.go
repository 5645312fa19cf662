package job

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/shell"
)

// keeping returns a rig whose jobs can be kept, as those of lathe can.
func keeping(t testing.TB) (*rig, Keepers) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := Keepers{Dir: filepath.Join(t.TempDir(), "jobs"), Args: []string{exe, "__keep"}}
	r := &rig{t: t, runner: shell.New(shell.Options{Supervisor: []string{exe, "__supervise"}}), dir: t.TempDir(), files: t.TempDir()}
	r.Manager = NewManager(Options{Runner: r.runner, Keepers: k})
	t.Cleanup(r.leave)
	t.Cleanup(func() {
		all, _ := listed(k)
		for _, left := range all {
			_ = left.Stop()
		}
	})
	return r, k
}

func listed(k Keepers) (all []*Kept, err error) {
	_, err = k.List(func(k *Kept) bool { all = append(all, k); return true })
	return all, err
}

// leave ends what lathe ends when it ends.
func (r *rig) leave() {
	r.Close()
	if err := r.runner.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) handOver(j *Job) *Kept {
	r.t.Helper()
	k, err := r.HandOver(j)
	if err != nil {
		r.t.Fatal(err)
	}
	return k
}

// do lets the script of a job go on, which waits for a file.
func (r *rig) do(name string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

const awaits = `await() { until [ -e "$1" ]; do sleep 0.02; done; }; `

func goneAll(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		// A zombie whose parent is the test counts as gone.
		if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(raw), ") Z ") {
			t.Errorf("process %d lives: %s", pid, raw)
		}
	}
}

// A job that was handed over goes on without lathe, its output is kept and followed,
// and whoever has its name stops it. Nothing is left then.
func TestHandOver(t *testing.T) {
	r, keepers := keeping(t)
	j := r.start("ses_a", awaits+"echo before; await go; echo after; await more; seq 1 3; sleep 1000 & wait")
	other := r.start("ses_a", "sleep 1000")
	others := other.proc.PIDs()
	j.Look(t.Context(), until("before"))
	k := r.handOver(j)
	if k.ID != "kept_1" || k.Job != j.ID() || !k.Running() {
		t.Errorf("%+v", k)
	}
	if end := j.Info().End(); end != "left to the user as kept_1" {
		t.Error(end)
	}
	pids := k.process.PIDs()
	r.leave() // from here on there is no lathe
	goneAll(t, others)
	if got := k.process.PIDs(); len(got) == 0 || got[0] != pids[0] {
		t.Fatalf("the processes %v are %v", pids, got)
	}
	all, err := listed(keepers)
	if err != nil || len(all) != 1 || !all[0].Running() || all[0].Directory != r.dir {
		t.Fatalf("%+v %v", all, err)
	}
	read, write := io.Pipe()
	followed := make(chan error, 1)
	go func() { followed <- all[0].Copy(t.Context(), write, true); write.Close() }()
	lines := bufio.NewScanner(read)
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if !lines.Scan() || lines.Text() != w {
				t.Fatalf("line %q, want %q (%v)", lines.Text(), w, lines.Err())
			}
		}
	}
	expect("before")
	r.do("go")
	expect("after")
	r.do("more")
	expect("1", "2", "3")
	again, err := keepers.Get("kept_1")
	if err != nil {
		t.Fatal(err)
	}
	pids = append(again.process.PIDs(), again.keeper.PID)
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("more: %q", lines.Text())
	}
	if err := <-followed; err != nil {
		t.Error(err)
	}
	goneAll(t, pids)
	if left, err := os.ReadDir(keepers.Dir); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if left, err := os.ReadDir(r.files); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if _, err := keepers.Get("kept_1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// A kept job that ends by itself is shown once, with its last output until then.
func TestKeptJobEnds(t *testing.T) {
	r, keepers := keeping(t)
	s := r.describe("ses_a", awaits+"await go; tty; echo bye")
	s.Terminal, s.Rows, s.Cols = true, 24, 80
	j, err := r.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	k := r.handOver(j)
	r.leave()
	r.do("go")
	if !k.process.Wait(t.Context().Done()) || !k.keeper.Wait(t.Context().Done()) {
		t.Fatal("it does not end")
	}
	got, err := keepers.Get(k.ID)
	if err != nil || got.Running() {
		t.Fatalf("%+v %v", got, err)
	}
	var out strings.Builder
	if err := got.Copy(t.Context(), &out, true); err != nil || !strings.HasPrefix(out.String(), "/dev/pts/") || !strings.HasSuffix(out.String(), "bye\r\n") {
		t.Errorf("%q %v", out.String(), err)
	}
	if all, err := listed(keepers); err != nil || len(all) != 1 || all[0].Running() {
		t.Errorf("%+v %v", all, err)
	}
	if all, err := listed(keepers); err != nil || len(all) != 0 {
		t.Errorf("shown again: %+v %v", all, err)
	}
}

// A job that floods after the hand-over fills no disk, and its newest output is kept
// across segments.
func TestKeptJobFloods(t *testing.T) {
	r, keepers := keeping(t)
	const lines = 4_000_000
	j := r.start("ses_a", awaits+fmt.Sprintf("echo begin; await go; seq 1 %d", lines))
	j.Look(t.Context(), until("begin"))
	k := r.handOver(j)
	r.leave()
	r.do("go")
	var out tail
	if err := k.Copy(t.Context(), &out, true); err != nil {
		t.Fatal(err)
	}
	if want := strconv.Itoa(lines) + "\n"; !strings.HasSuffix(string(out), want) {
		t.Errorf("ends with %q", string(out))
	}
	k.keeper.Wait(t.Context().Done())
	size := int64(0)
	files, err := os.ReadDir(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	if size < segment || size > 2*segment+4<<10 {
		t.Errorf("%d bytes are kept", size)
	}
	if got, err := keepers.Get(k.ID); err != nil || got.output.Total != int64(len("begin\n"))+30_888_896 {
		t.Errorf("%+v %v", got, err)
	}
}

// tail keeps the last bytes that were written.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	*t = slices.Clone((*t)[max(0, len(*t)-16):])
	return len(p), nil
}

// A keeper that is killed takes nothing with it but the output to come: the job is
// still known, and stopped.
func TestKeeperIsKilled(t *testing.T) {
	r, keepers := keeping(t)
	j := r.start("ses_a", "trap '' PIPE; echo begin; while :; do sleep 0.01; echo x 2>/dev/null; done")
	j.Look(t.Context(), until("begin"))
	k := r.handOver(j)
	r.leave()
	if err := syscall.Kill(k.keeper.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := k.Copy(t.Context(), io.Discard, true); err != nil { // ends with the keeper
		t.Error(err)
	}
	all, err := listed(keepers)
	if err != nil || len(all) != 1 || !all[0].Running() {
		t.Fatalf("%+v %v", all, err)
	}
	pids := all[0].process.PIDs()
	if err := all[0].Stop(); err != nil {
		t.Error(err)
	}
	goneAll(t, pids)
}

// What cannot be kept is stopped with lathe, as ever, and leaves no record.
func TestHandOverRefuses(t *testing.T) {
	r, keepers := keeping(t)
	ended := r.start("ses_a", "true")
	<-ended.Done()
	if k, err := r.HandOver(ended); err == nil {
		t.Errorf("kept: %+v", k)
	}
	keep := make(chan struct{})
	s := r.describe("ses_a", "echo begin; sleep 1000")
	s.Command.Keep = keep
	s.Command.Output = func([]byte) { close(keep) }
	exit, err := r.runner.Run(t.Context(), s.Command)
	if err != nil || !exit.Kept {
		t.Fatalf("%+v %v", exit, err)
	}
	bound, err := r.Adopt(s, exit, nil)
	if err != nil {
		t.Fatal(err)
	}
	if k, err := r.HandOver(bound); err == nil { // the kernel ends it with lathe
		t.Errorf("kept: %+v", k)
	}
	pids := bound.proc.PIDs()
	r.leave()
	goneAll(t, pids)
	if left, _ := os.ReadDir(keepers.Dir); len(left) != 0 {
		t.Errorf("records left: %v", left)
	}
}

// A lathe that is killed keeps what was handed over and nothing else.
func TestKilledLatheKeepsWhatWasHandedOver(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	keepers := Keepers{Dir: filepath.Join(dir, "jobs")}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "JOB_TEST_VICTIM="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var kept, other int
	if _, err := fmt.Fscan(out, &kept, &other); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	late := time.Now().Add(patience)
	for alive(other) && time.Now().Before(late) {
		time.Sleep(10 * time.Millisecond)
	}
	goneAll(t, []int{other})
	all, err := listed(keepers)
	if err != nil || len(all) != 1 || !all[0].Running() || !slices.Contains(all[0].process.PIDs(), kept) {
		t.Fatalf("%+v %v", all, err)
	}
	if err := all[0].Stop(); err != nil {
		t.Error(err)
	}
	goneAll(t, []int{kept})
}

func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(raw), ") Z ")
}
