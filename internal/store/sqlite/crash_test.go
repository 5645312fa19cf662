package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
	"lathe/internal/store/storetest"
)

// The test binary runs itself as the other process.
const (
	roleEnv  = "LATHE_SQLITE_TEST_ROLE"
	traceEnv = "LATHE_SQLITE_TEST_TRACED" // somebody traces it
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := child(role, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(role, dir, name string) error {
	if os.Getenv(traceEnv) != "" {
		if err := traceStoring(); err != nil {
			return err
		}
	}
	if role == "crash" {
		return crashRole(dir)
	}
	ctx := context.Background()
	s, err := openTest(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	defer s.Close()
	switch role {
	case "open":
		return nil
	case "write":
		return writeForever(ctx, s, name)
	}
	return interleave(ctx, s, name)
}

// writeForever writes as a turn does and prints what was acknowledged.
func writeForever(ctx context.Context, s *testDB, name string) error {
	ses := lathe.SessionID("ses_" + name)
	if err := s.CreateSession(ctx, storetest.Session(string(ses))); err != nil {
		return err
	}
	fmt.Println("session")
	if _, err := s.Acquire(ctx, ses, Self()); err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("msg_%s_%d", name, i)
		if err := s.AddMessage(ctx, storetest.Assistant(ses, id, lathe.Assistant{})); err != nil {
			return err
		}
		part := openText1(string(ses), id, fmt.Sprintf("prt_%s_%d", name, i))
		tool := lathe.Part{
			ID: part.ID + "_t", SessionID: ses, MessageID: part.MessageID,
			Body: &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte("{}"), Start: epoch}},
		}
		if err := s.PutPart(ctx, part); err != nil {
			return err
		}
		whole := ""
		for j := range 5 {
			piece := fmt.Sprintf("piece %d of %d. ", j, i)
			if err := s.AppendText(ctx, part.ID, int64(len(whole)), piece); err != nil {
				return err
			}
			whole += piece
		}
		fmt.Println("text", i)
		if err := s.PutPart(ctx, &tool); err != nil {
			return err
		}
		fmt.Println("tool", i)
		for j := range 5 {
			show := map[string]any{"output": strings.Repeat(fmt.Sprintf("line %d\n", i), j+1)}
			tool.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte("{}"), Metadata: show, Start: epoch}}
			if err := s.SaveProgress(ctx, &tool); err != nil {
				return err
			}
			fmt.Println("shown", i, j)
		}
		part.Body = &lathe.Text{Text: whole + strings.Repeat("x", i%3*codec.Spill), Time: lathe.Span{Start: epoch, End: epoch}}
		if err := s.PutPart(ctx, part); err != nil {
			return err
		}
		fmt.Println("done", i)
	}
}

// TestKilled kills a writer at any moment, and then expects a database that is
// whole, has all that was acknowledged, and closes what was open.
func TestKilled(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 5
	}
	dir := t.TempDir()
	for round := range rounds {
		name := fmt.Sprint(round)
		acked := runAndKill(t, dir, name, 1+round*7%40)
		checkAcked(t, dir, name, acked)
	}
	s := open(t, dir)
	whole(t, s)
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := topFiles(t, dir, "open"); left != nil {
		t.Errorf("%d open texts stay after everything was recovered", len(left))
	}
}

// runAndKill returns the lines that the writer printed before it was killed,
// which happens after the given number of them.
func runAndKill(t *testing.T, dir, name string, after int) (acked []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir, name)
	cmd.Env = append(os.Environ(), roleEnv+"=write")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		acked = append(acked, lines.Text())
		if len(acked) == after {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); len(acked) < after {
		t.Fatalf("writer ended by itself: %v", err)
	}
	return acked
}

func checkAcked(t *testing.T, dir, name string, acked []string) {
	t.Helper()
	ctx := t.Context()
	s, err := openTest(ctx, Options{Dir: dir})
	must(t, err)
	defer s.Close()
	ses := lathe.SessionID("ses_" + name)
	changed, err := s.Recover(ctx, ses)
	must(t, err)
	again, err := s.Recover(ctx, ses)
	if err != nil || len(again) != 0 {
		t.Fatalf("second recovery changed %d parts: %v", len(again), err)
	}
	if ids, err := s.Unclosed(ctx); err != nil || len(ids) != 0 {
		t.Fatalf("still open: %v, %v", ids, err)
	}
	lease, err := s.Acquire(ctx, ses, Self())
	must(t, err)
	must(t, lease.Release(ctx))

	msgs, err := s.Tail(ctx, ses)
	must(t, err)
	texts, tools := map[int]string{}, map[int]*lathe.ToolFailed{}
	for i, m := range msgs {
		if m.Info.(*lathe.Assistant).Completed.IsZero() {
			t.Errorf("%s is not completed", m.ID)
		}
		for _, p := range m.Parts {
			if codec.IsOpen(p.Body) {
				t.Errorf("%s is open", p.ID)
			}
			switch b := p.Body.(type) {
			case *lathe.Text:
				texts[i] = b.Text
			case *lathe.ToolCall:
				tools[i] = b.State.(*lathe.ToolFailed)
			}
		}
	}
	for _, line := range acked {
		var i, j int
		switch {
		case line == "session":
		case scan(line, "text %d", &i):
			want := ""
			for j := range 5 {
				want += fmt.Sprintf("piece %d of %d. ", j, i)
			}
			if !strings.HasPrefix(texts[i], want) {
				t.Errorf("text %d is %.80q", i, texts[i])
			}
		case scan(line, "tool %d", &i):
			if tools[i] == nil || tools[i].Error != store.Interrupted {
				t.Errorf("tool %d is %+v", i, tools[i])
			}
		case scan(line, "shown %d %d", &i, &j):
			want := strings.Repeat(fmt.Sprintf("line %d\n", i), j+1)
			if got, _ := tools[i].Metadata["output"].(string); !strings.HasPrefix(got, want) {
				t.Errorf("tool %d showed %q, not %q", i, got, want)
			}
		case scan(line, "done %d", &i):
			if want := i % 3 * codec.Spill; len(texts[i]) < want {
				t.Errorf("text %d has %d bytes of %d", i, len(texts[i]), want)
			}
		}
	}
	_ = changed
}

func scan(line, format string, into ...any) bool {
	n, err := fmt.Sscanf(line, format, into...)
	return err == nil && n == len(into)
}

const interleaved = 300

// interleave reads and writes the same rows as the other process.
func interleave(ctx context.Context, s *testDB, name string) error {
	for i := range interleaved {
		_, err := s.UpdateSession(ctx, "ses_shared", func(ses *lathe.Session) error {
			ses.Cost++
			return nil
		})
		if err == nil {
			err = s.AddMessage(ctx, storetest.UserMessage("ses_shared", fmt.Sprintf("msg_%s_%d", name, i),
				storetest.Text(fmt.Sprintf("prt_%s_%d", name, i), "x")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ses := seed(t, s, "ses_shared")
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], dir, name)
			cmd.Env = append(os.Environ(), roleEnv+"=interleave")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %s: %v\n%s", name, err, out)
			}
		})
	}
	wg.Wait()
	got, err := s.Session(t.Context(), ses)
	must(t, err)
	if want := lathe.Money(12 + 2*interleaved); got.Cost != want {
		t.Errorf("%d updates counted, want %d", got.Cost, want)
	}
	msgs, err := s.Tail(t.Context(), ses)
	must(t, err)
	if len(msgs) != 2*interleaved {
		t.Errorf("%d messages", len(msgs))
	}
	for i, m := range msgs {
		if m.Seq != int64(i+1) {
			t.Fatalf("message %d has number %d", i, m.Seq)
		}
	}
}

func TestLease(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	here := local.Self()
	if here.PID != os.Getpid() || !here.Living(here) {
		t.Fatalf("self: %+v", here)
	}
	self := here.Owner()
	l, err := s.Acquire(ctx, ses, self)
	must(t, err)
	busy, ok := error(nil), false
	if _, busy = s.Acquire(ctx, ses, self); !errors.Is(busy, store.ErrBusy) {
		t.Errorf("second owner: %v", busy)
	}
	if e, is := errors.AsType[*store.BusyError](busy); is {
		ok = e.Holder.Owner == self
	}
	if !ok {
		t.Errorf("the error does not name the owner: %v", busy)
	}
	must(t, l.Release(ctx))
	must(t, l.Release(ctx))

	sleeper := exec.CommandContext(ctx, "sleep", "60")
	must(t, sleeper.Start())
	other := local.ProcessAt(sleeper.Process.Pid)
	for _, tt := range []struct {
		name   string
		holder local.Process
		busy   bool
	}{
		{"living", other, true},
		{"reused number", local.Process{PID: other.PID, Start: "1", Boot: other.Boot, Host: other.Host}, other.Start == ""},
		{"other boot", local.Process{PID: other.PID, Start: other.Start, Boot: "x", Host: other.Host}, here.Boot == ""},
		{"other host", local.Process{PID: 1 << 30, Host: "elsewhere"}, true},
		{"no such process", local.Process{PID: 1 << 30, Boot: here.Boot, Host: here.Host}, false},
	} {
		must(t, s.BreakLease(ctx, ses))
		_, err := s.Acquire(ctx, ses, tt.holder.Owner())
		must(t, err)
		_, rerr := s.Recover(ctx, ses)
		_, err = s.Acquire(ctx, ses, self)
		if errors.Is(err, store.ErrBusy) != tt.busy || errors.Is(rerr, store.ErrBusy) != tt.busy {
			t.Errorf("%s: acquire %v, recover %v", tt.name, err, rerr)
		}
	}
	must(t, s.BreakLease(ctx, ses))
	_, err = s.Acquire(ctx, ses, other.Owner())
	must(t, err)
	must(t, sleeper.Process.Kill())
	sleeper.Wait()
	if _, err = s.Acquire(ctx, ses, self); err != nil {
		t.Errorf("owner died: %v", err)
	}
	if _, _, err := s.Holder(ctx, ses); err != nil {
		t.Error(err)
	}
	if _, err := s.Acquire(ctx, "ses_x", self); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}
