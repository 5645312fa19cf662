package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe"
	"lathe/internal/enginetest"
	"lathe/internal/instance"
	"lathe/internal/llm"
	"lathe/internal/llm/script"
	"lathe/internal/session"
)

// process is a service as one process has it, with a scripted model.
type process struct{ *enginetest.Engine }

func startProcess(t *testing.T, home, steps string) *process {
	t.Helper()
	model := script.New(func() ([]byte, error) { return []byte(steps), nil })
	e, err := enginetest.Open(t.Context(), enginetest.Options{
		Env:      map[string]string{"HOME": home, "LATHE_HOME": home},
		Instance: instance.Options{Builtin: func(ref lathe.ModelRef) (llm.Model, bool) { return model, ref.Provider == "script" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &process{e}
}

func (p *process) close(t *testing.T) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// ask runs one prompt to its end and returns the newest answer.
func (p *process) ask(t *testing.T, id lathe.SessionID, text string) lathe.Message {
	t.Helper()
	_, run, err := p.Prompt(t.Context(), id, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "x"}, Parts: []lathe.PartBody{&lathe.Text{Text: text}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.Wait(t.Context())
	if err != nil || out.Failure != nil {
		t.Fatalf("turn ended with %v, %v", out.Failure, err)
	}
	return *out.Last
}

// TestResumedSessionKnowsWhatItRead holds that a file read in one process may be
// written anew in the next, unless somebody changed it meanwhile.
func TestResumedSessionKnowsWhatItRead(t *testing.T) {
	const steps = `tool read {"filePath":"a.txt"}
tool read {"filePath":"b.txt"}
---
text read
---
tool write {"filePath":"a.txt","content":"two\n"}
tool write {"filePath":"b.txt","content":"two\n"}
---
text done`
	home, dir := t.TempDir(), t.TempDir()
	for _, f := range []string{"a.txt", "b.txt"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("one\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first := startProcess(t, home, steps)
	sess, err := first.Create(t.Context(), session.Create{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	first.ask(t, sess.ID, "read them")
	first.close(t)

	b := filepath.Join(dir, "b.txt")
	if err := os.WriteFile(b, []byte("one, changed by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(b, later, later); err != nil {
		t.Fatal(err)
	}
	second := startProcess(t, home, steps)
	defer second.close(t)
	second.ask(t, sess.ID, "write them")
	for name, want := range map[string]string{"a.txt": "two\n", "b.txt": "one, changed by hand\n"} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
