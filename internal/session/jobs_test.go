package session_test

import (
	"errors"
	"os"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/job"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/shell"
)

// working returns a play whose commands may go on as jobs of m.
func working(t *testing.T, answer func(*llm.Request) say) (p *play, m *job.Manager) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX shell")
	}
	p = newPlay(t, nil, answer)
	p.opts.Runner = shell.New(shell.Options{})
	m = job.NewManager(job.Options{Runner: p.opts.Runner, Alarm: func(chunk []byte) string {
		for line := range strings.Lines(string(chunk)) {
			if strings.Contains(line, "error:") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}})
	p.opts.Jobs = m
	return p.open(), m
}

// await returns a job of a session, once it has printed what matches.
func await(t *testing.T, m *job.Manager, id lathe.SessionID, name, text string) *job.Job {
	t.Helper()
	j, err := m.Get(id, name)
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(text)
	for at := int64(0); ; at = j.Output().Total() {
		next := j.Output().Next(at)
		if data, _ := j.Output().Part(0, 1<<20); re.Match(data) {
			return j
		}
		select {
		case <-next:
		case <-j.Done():
			data, _ := j.Output().Part(0, 1<<20)
			t.Fatalf("%s ended without %q: %q", name, text, data)
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// The model hears with the next result, or with the next prompt, what became of a
// job, and hears it once.
func TestNewsOfJobsReachTheModel(t *testing.T) {
	var (
		p  *play
		m  *job.Manager
		id lathe.SessionID
	)
	step := 0
	p, m = working(t, func(req *llm.Request) say {
		step++
		switch step {
		case 1:
			return say{calls: []use{{"bash", args{"command": "read x; echo error: one; read x; echo last words; exit 7", "background": true, "description": "Serve"}}}}
		case 2: // the job prints an error before the next call ends
			j, err := m.Get(id, "job_1")
			if err != nil {
				return say{err: err}
			}
			if err := j.Write([]byte("\n")); err != nil {
				return say{err: err}
			}
			await(t, m, id, "job_1", "error: one")
			return say{calls: []use{{"bash", args{"command": "echo two", "description": "Say two"}}}}
		case 3: // and ends before this one does
			j, _ := m.Get(id, "job_1")
			if err := j.Write([]byte("\n")); err != nil {
				return say{err: err}
			}
			<-j.Done()
			return say{calls: []use{{"bash", args{"command": "echo three", "description": "Say three"}}}}
		case 4:
			return say{calls: []use{{"bash", args{"command": "sleep 1000", "background": true, "description": "Wait"}}}}
		}
		return say{text: "done"}
	})
	id = p.session()
	p.prompt(id, session.Prompt{}, "go")
	want := []string{
		"bash done: Started as job_1. Its output, its end and its input are for the job tool; it lives until the session ends.",
		"bash done: two\n\n\n<system-reminder>\njob_1 (Serve) printed an error: error: one\n</system-reminder>",
		"bash done: three\n\n\n<system-reminder>\njob_1 (Serve) ended with exit code 7; its last output:\nerror: one\nlast words\n</system-reminder>",
		"bash done: Started as job_2. Its output, its end and its input are for the job tool; it lives until the session ends.",
	}
	if diff := cmp.Diff(want, p.tools(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	j, err := m.Get(id, "job_2")
	if err != nil {
		t.Fatal(err)
	}
	m.Stop(j) // as a person does, between two prompts
	p.prompt(id, session.Prompt{}, "what now?")
	all := p.asked()
	if got := last(&all[len(all)-1]); !strings.Contains(got, "job_2 (Wait) was stopped by the user") || strings.Contains(got, "job_1") {
		t.Errorf("the next prompt says %q", got)
	}
	p.prompt(id, session.Prompt{}, "and now?")
	all = p.asked()
	if got := last(&all[len(all)-1]); strings.Contains(got, "job_2") {
		t.Errorf("told again: %q", got)
	}
}

// Who deletes a session ends its jobs, also those that its subagents started, and no
// other's. Their output goes with them.
func TestDeletingASessionEndsItsJobs(t *testing.T) {
	p, m := working(t, func(req *llm.Request) say {
		if strings.Contains(last(req), "Started as") {
			return say{text: "done"}
		}
		return say{calls: []use{{"bash", args{"command": "echo $$; exec sleep 1000", "background": true, "description": "Serve"}}}}
	})
	gone, kept := p.session(), p.session()
	p.prompt(gone, session.Prompt{}, "go")
	p.prompt(kept, session.Prompt{}, "go")
	one, other := await(t, m, gone, "job_1", `^\d+\n`), await(t, m, kept, "job_2", `^\d+\n`)
	pid := one.Info().PID
	if err := p.svc.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Get("", "job_1"); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("the job is still listed: %v", err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("process %d is still there", pid)
	}
	if !other.Info().Running() {
		t.Error("a job of another session ended as well")
	}
	m.Stop(other)
}

// A subagent's job belongs to the session that it works for: it is there when the
// subagent is done, and the news of it are that session's.
func TestJobsOfASubagent(t *testing.T) {
	step := 0
	p, m := working(t, func(req *llm.Request) say {
		step++
		switch step {
		case 1:
			return say{calls: []use{{"task", args{"description": "Serve it", "prompt": "serve", "subagent_type": "general"}}}}
		case 2:
			return say{calls: []use{{"bash", args{"command": "exec sleep 1000", "background": true, "description": "Serve"}}}}
		}
		return say{text: "done"}
	})
	id := p.session()
	p.prompt(id, session.Prompt{}, "go")
	jobs := m.Of(id)
	if len(jobs) != 1 || !jobs[0].Info().Running() {
		t.Fatalf("jobs of the session: %v, of all: %v; %v", jobs, m.Of(""), p.tools(id))
	}
	if err := p.svc.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if n := m.Running(""); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}
