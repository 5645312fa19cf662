package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/session"
)

const childEnv = "LATHE_CONTEXT_CHILD"

// TestKilledWhileCompacting holds that kill -9 in the middle of a compaction
// leaves the session as it was, and usable.
func TestKilledWhileCompacting(t *testing.T) {
	if base := os.Getenv(childEnv); base != "" {
		compactAndHang(t, base)
		return
	}
	base := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileCompacting$")
	cmd.Env = append(os.Environ(), childEnv+"="+base)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); len(line) > 8 && line[:8] == "session " {
			id = line[8:]
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if id == "" {
		t.Fatal("the child did not come to the summary")
	}
	m, svc := openAt(t, base)
	sess, err := svc.Get(t.Context(), lathe.SessionID(id))
	if err != nil || sess.Compacting.IsZero() {
		t.Fatalf("the killed compaction left no mark: %v", err)
	}
	before, err := svc.Messages(t.Context(), sess.ID, 0)
	if err != nil || len(before) != 2 {
		t.Fatalf("%d messages, %v", len(before), err)
	}
	live, err := svc.Windows.Live(t.Context(), sess.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, live); diff != "" {
		t.Errorf("the live history is not the whole (-all +live):\n%s", diff)
	}
	if err := m.turn(t.Context(), svc, sess.ID, 1); err != nil {
		t.Fatalf("the session is not usable: %v", err)
	}
	if err := svc.Summarize(t.Context(), sess.ID, lathe.ModelRef{}, false); err != nil {
		t.Fatal(err)
	}
	if sess, err = svc.Get(t.Context(), sess.ID); err != nil || !sess.Compacting.IsZero() {
		t.Errorf("still compacting: %v, %v", sess.Compacting, err)
	}
}

func openAt(t *testing.T, base string) (*model, *session.Service) {
	t.Helper()
	m := &model{dir: filepath.Join(base, "repo"), opts: Options{Window: 100_000, Summary: summaries[1].text}}
	svc, closeAll, err := m.open(context.WithoutCancel(t.Context()), base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	return m, svc
}

// compactAndHang plays a turn, begins a compaction, says so and waits to be killed.
func compactAndHang(t *testing.T, base string) {
	m, svc := openAt(t, base)
	sess, err := svc.Create(t.Context(), session.Create{Directory: m.dir, Title: "rig"})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.turn(t.Context(), svc, sess.ID, 0); err != nil {
		t.Fatal(err)
	}
	m.asked = func() {
		os.Stdout.WriteString("session " + string(sess.ID) + "\n")
		select {} // until killed
	}
	if err := svc.Summarize(t.Context(), sess.ID, lathe.ModelRef{}, false); err != nil {
		t.Fatal(err)
	}
}
