package job

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/shell"
	"lathe/internal/store/local"
)

// noted returns a rig whose jobs are noted by a process.
func noted(t testing.TB, dir string, self local.Process) *rig {
	r := &rig{t: t, runner: shell.New(shell.Options{}), dir: t.TempDir(), files: t.TempDir()}
	r.Manager = NewManager(Options{Runner: r.runner, Ledger: Ledger{Dir: dir, Self: func() local.Process { return self }}})
	t.Cleanup(r.Close)
	return r
}

// What ended with a lathe, or before it did without a word, is told by the next one,
// once, and listed as ended.
func TestRecall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of")
	gone := local.Self()
	gone.PID, gone.Start = 1<<22+1, "1" // no process has it
	first := noted(t, dir, gone)
	run := first.start("ses_a", "echo ready; sleep 1000")
	run.Look(t.Context(), until("ready"))
	untold := first.start("ses_a", "exit 3")
	<-untold.Done()
	told := first.start("ses_a", "true")
	told.Look(t.Context(), Look{End: true, For: patience})
	first.start("ses_b", "sleep 1000")
	<-first.start("ses_c", "true").Done()
	first.End("ses_c") // the session was deleted

	self := local.Self()
	meanwhile := noted(t, dir, self)
	own := meanwhile.start("ses_a", "sleep 1001")
	if own.ID() != "job_1" {
		t.Fatal(own.ID())
	}
	first.Close() // the first lathe ends

	next := noted(t, dir, self)
	next.Recall("ses_a")
	next.Recall("ses_a")
	want := []string{
		"job_1 (echo ready; sleep 1000) ended with the lathe that ran it; start it again if it is needed",
		"job_2 (exit 3) ended with exit code 3",
	}
	if diff := cmp.Diff(want, next.News("ses_a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if news := next.News("ses_a"); news != nil {
		t.Errorf("told again: %q", news)
	}
	var listed []string
	for _, j := range next.Of("") {
		i := j.Info()
		listed = append(listed, string(i.Session)+" "+i.ID+" "+i.End())
		if err := j.Write([]byte("x")); err == nil {
			t.Error("typed into what is gone")
		}
		if err := j.Key("enter"); err == nil {
			t.Error("typed into what is gone")
		}
		next.Stop(j)
	}
	if diff := cmp.Diff([]string{"ses_a job_1 ended with lathe", "ses_a job_2 ended with exit code 3"}, listed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if j := next.start("ses_a", "true"); j.ID() != "job_3" {
		t.Errorf("%s is another's name", j.ID())
	}
	after := noted(t, dir, self)
	after.Recall("")
	if news := after.News("ses_a"); news != nil {
		t.Errorf("told in another process, too: %q", news)
	}
	if n := len(after.Of("ses_b")); n != 1 {
		t.Errorf("%d jobs of the other session", n)
	}
	after.End("ses_b")
	meanwhile.End("ses_a")
	next.End("ses_a")
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("notes left: %v", left)
	}
}

// A note that was cut off is no job, and costs no later look.
func TestLedgerIsCutOff(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ses_a", "1-2-job_1")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"id":"job_`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := noted(t, dir, local.Self())
	r.Recall("ses_a")
	r.Recall("../ses_a")
	if all := r.Of(""); len(all) != 0 {
		t.Errorf("%+v", all[0].Info())
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
