package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/shell"
)

const patience = 30 * time.Second

// rig is a manager and where its jobs write.
type rig struct {
	*Manager
	t      testing.TB
	runner *shell.Runner
	dir    string
	files  string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, runner: shell.New(shell.Options{}), dir: t.TempDir(), files: t.TempDir()}
	r.Manager = NewManager(Options{Runner: r.runner, Alarm: func(chunk []byte) string {
		for line := range strings.Lines(string(chunk)) {
			if strings.Contains(line, "error") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}})
	t.Cleanup(r.Close)
	return r
}

func (r *rig) describe(session, script string) Start {
	return Start{
		Session: lathe.SessionID(session), Directory: r.dir,
		Command: shell.Command{Script: script, Dir: r.dir, Shell: "/bin/bash", Env: append(os.Environ(), "LC_ALL=C")},
		Create:  func() (*os.File, error) { return os.CreateTemp(r.files, "out") },
	}
}

func (r *rig) start(session, script string) *Job {
	r.t.Helper()
	j, err := r.Start(r.describe(session, script))
	if err != nil {
		r.t.Fatal(err)
	}
	return j
}

func until(text string) Look { return Look{Until: regexp.MustCompile(text), For: patience} }

func text(j *Job, s Seen) string {
	data, _ := j.Output().Part(s.From, int(s.To-s.From))
	return string(data)
}

func TestLook(t *testing.T) {
	r := newRig(t)
	j := r.start("ses_a", "echo one; read x; echo two $x; read x; exit 3")
	s := j.Look(t.Context(), until("one"))
	if got := text(j, s); got != "one\n" || !s.Matched || !s.Info.Running() {
		t.Errorf("%q %+v", got, s)
	}
	if s := j.Look(t.Context(), Look{}); text(j, s) != "" {
		t.Errorf("shown again: %+v", s)
	}
	if err := j.Write([]byte("keys\n")); err != nil {
		t.Fatal(err)
	}
	s = j.Look(t.Context(), until("(?m)^two keys$"))
	if got := text(j, s); got != "two keys\n" {
		t.Errorf("%q", got)
	}
	if s := j.Look(t.Context(), Look{Until: regexp.MustCompile("never"), Idle: time.Millisecond, For: patience}); !s.Idle || s.Matched {
		t.Errorf("%+v", s)
	}
	if s := j.Look(t.Context(), Look{End: true, For: time.Millisecond}); s.Idle || !s.Info.Running() {
		t.Errorf("%+v", s)
	}
	if err := j.Key("Ctrl-D"); err != nil {
		t.Fatal(err)
	}
	if s := j.Look(t.Context(), Look{End: true, For: patience}); s.Info.End() != "ended with exit code 3" {
		t.Errorf("%+v", s)
	}
	if err := j.Key("up"); err == nil || !strings.Contains(err.Error(), "pty") {
		t.Errorf("%v", err)
	}
	if err := j.Key("nonsense"); err == nil || !strings.Contains(err.Error(), "ctrl-c") {
		t.Errorf("%v", err)
	}
}

// A text is found wherever it comes in a long output, and in parts.
func TestLookFindsInLongOutput(t *testing.T) {
	r := newRig(t)
	j := r.start("ses_a", "seq 1 200000; printf 'rea'; read x; echo dy")
	if s := j.Look(t.Context(), until("(?m)^200000\nrea$")); !s.Matched {
		t.Errorf("%+v", s)
	}
	if err := j.Key("enter"); err != nil {
		t.Fatal(err)
	}
	if s := j.Look(t.Context(), until("^dy\n")); !s.Matched || s.Info.Path == "" {
		t.Errorf("%+v", s)
	}
}

// The wait for idle output begins anew with each output, and takes no other time.
func TestLookWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &Job{m: NewManager(Options{}), out: newOutput(nil), done: make(chan struct{})}
		begin := time.Now()
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				j.take([]byte("."))
			}
		}()
		if s := j.wait(t.Context(), Look{Idle: 2 * time.Second, For: time.Hour}, 0); !s.Idle || time.Since(begin) != 5*time.Second {
			t.Errorf("%+v after %s", s, time.Since(begin))
		}
		if s := j.wait(t.Context(), Look{End: true, For: time.Hour}, 3); s.Idle || time.Since(begin) != time.Hour+5*time.Second {
			t.Errorf("%+v after %s", s, time.Since(begin))
		}
	})
}

// What comes while the output is looked through is not missed: the wait goes on from
// where the look began.
func TestLookMissesNothing(t *testing.T) {
	filler := bytes.Repeat([]byte("x"), inMemory-100) // takes a while to look through
	synctest.Test(t, func(t *testing.T) {
		for i := range 300 {
			j := &Job{m: NewManager(Options{}), out: newOutput(nil), done: make(chan struct{})}
			j.take(filler)
			go j.take([]byte("needle"))
			if s := j.wait(t.Context(), until("(x*)*needle"), 0); !s.Matched {
				t.Fatalf("look %d did not find it: %+v", i, s)
			}
			synctest.Wait()
		}
	})
}

func TestNews(t *testing.T) {
	r := newRig(t)
	j := r.start("ses_a", "echo an error here; echo another error; read x; echo last words; exit 4")
	other := r.start("ses_b", "true")
	<-other.Done()
	for j.Output().Total() < int64(len("an error here\nanother error\n")) {
		<-j.Output().Next(j.Output().Total())
	}
	name := j.ID() + " (" + firstLine(j.info.Command) + ")"
	if diff := cmp.Diff([]string{name + " printed an error: an error here"}, r.News("ses_a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if news := r.News("ses_a"); news != nil {
		t.Errorf("told twice: %q", news)
	}
	if err := j.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	<-j.Done()
	want := []string{name + " ended with exit code 4; its last output:\nan error here\nanother error\nlast words"}
	if diff := cmp.Diff(want, r.News("ses_a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	j = r.start("ses_a", "sleep 1000")
	r.Stop(j)
	if diff := cmp.Diff([]string{j.ID() + " (sleep 1000) was stopped by the user"}, r.News("ses_a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	j = r.start("ses_a", "true")
	j.Look(t.Context(), Look{End: true, For: patience})
	if news := r.News("ses_a"); news != nil {
		t.Errorf("told what was seen: %q", news)
	}
}

func TestSessionsHaveTheirOwn(t *testing.T) {
	r := newRig(t)
	a, b := r.start("ses_a", "sleep 1000"), r.start("ses_b", "sleep 1000")
	if _, err := r.Get("ses_a", b.ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	r.End("ses_a")
	<-a.Done()
	if r.Running("ses_b") != 1 || len(r.Of("")) != 1 {
		t.Error("the other session's job ended with it")
	}
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	for range maxRunning {
		r.start("ses_a", "sleep 1000")
	}
	if _, err := r.Start(r.describe("ses_a", "true")); err == nil || !strings.Contains(err.Error(), "stop one first") {
		t.Errorf("%v", err)
	}
	r.End("ses_a")
	for range maxEnded + 3 {
		<-r.start("ses_a", "true").Done()
	}
	if n := len(r.Of("ses_a")); n != maxEnded {
		t.Errorf("%d ended jobs are kept", n)
	}
	r.Close()
	if _, err := r.Start(r.describe("ses_a", "true")); err == nil {
		t.Error("started after the end")
	}
}

// Many jobs that were started and stopped leave no process, no file and no call.
func TestNothingIsLeft(t *testing.T) {
	r := newRig(t)
	for i := range 100 {
		s := r.describe("ses_a", "seq 1 5000; sleep 1000 & wait")
		s.Terminal = i%10 == 0 && runtime.GOOS != "windows"
		j, err := r.Start(s)
		if err != nil {
			t.Fatal(err)
		}
		j.Look(t.Context(), until("5000"))
		if pids := j.proc.PIDs(); len(pids) == 0 {
			t.Error("nothing runs")
		}
		r.Stop(j)
		r.Forget(j)
		if pids := j.proc.PIDs(); pids != nil {
			t.Errorf("left: %v", pids)
		}
	}
	if left, err := os.ReadDir(r.files); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if left := r.Of(""); len(left) != 0 {
		t.Errorf("jobs left: %d", len(left))
	}
}

// A command that is kept becomes a job with what it printed so far; one that leaves
// a process behind too.
func TestAdopt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs marks")
	}
	r := newRig(t)
	keep, withdraw := r.Offer("ses_a", "call_1")
	if err := r.Keep("ses_b", "call_1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another session's call: %v", err)
	}
	s := r.describe("ses_a", "echo first; until [ -e go ]; do sleep 0.01; done; echo second; exit 5")
	s.CallID = "call_1"
	c := s.Command
	c.Keep = keep
	c.Output = func([]byte) {
		if err := r.Keep("ses_a", "call_1"); err != nil {
			t.Error(err)
		}
	}
	exit, err := r.runner.Run(t.Context(), c)
	if err != nil || !exit.Kept {
		t.Fatalf("%+v %v", exit, err)
	}
	withdraw()
	j, err := r.Adopt(s, exit, []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := j.Look(t.Context(), Look{End: true, For: patience})
	if got := text(j, seen); got != "second\n" || seen.Info.End() != "ended with exit code 5" || seen.Info.CallID != "call_1" {
		t.Errorf("%q %+v", got, seen.Info)
	}
	if err := r.Keep("ses_a", "call_1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a call that ended: %v", err)
	}
	c = r.describe("ses_a", "(setsid sleep 1001 &)").Command
	c.Adopt = true
	if exit, err = r.runner.Run(t.Context(), c); err != nil || exit.Live == nil {
		t.Fatalf("%+v %v", exit, err)
	}
	if j, err = r.Adopt(s, exit, nil); err != nil {
		t.Fatal(err)
	}
	if info := j.Info(); !info.Left || info.Command != "sleep 1001" {
		t.Errorf("%+v", info)
	}
	r.Close()
	if pids := j.proc.PIDs(); pids != nil {
		t.Errorf("left: %v", pids)
	}
}

// BenchmarkJob compares a job's start and end with those of a command.
func BenchmarkJob(b *testing.B) {
	r := newRig(b)
	b.Run("command", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.runner.Run(b.Context(), r.describe("", "true").Command); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("job", func(b *testing.B) {
		for b.Loop() {
			<-r.start("ses_a", "true").Done()
		}
	})
	b.Run("start", func(b *testing.B) { // without the time of the command itself
		for b.Loop() {
			j := r.start("ses_a", "true")
			b.StopTimer()
			<-j.Done()
			b.StartTimer()
		}
	})
}

// BenchmarkIdle tells what idle jobs cost.
func BenchmarkIdle(b *testing.B) {
	r := newRig(b)
	<-r.start("ses_a", "true").Done()
	before := resident(b)
	for range 20 {
		j := r.start("ses_a", "echo ready; exec sleep 1000")
		j.Look(b.Context(), until("ready"))
	}
	grown := resident(b) - before
	for b.Loop() {
	}
	b.ReportMetric(float64(grown)/20, "KB/job")
}

func resident(b *testing.B) int {
	b.Helper()
	debug.FreeOSMemory()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("needs /proc")
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	n := 0
	for _, c := range strings.TrimSpace(rest) {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}
