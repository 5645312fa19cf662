package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/job"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// jobRig is a rig whose commands may go on.
func jobRig(t testing.TB) *rig {
	t.Helper()
	runner := shell.New(shell.Options{})
	m := job.NewManager(job.Options{Runner: runner, Alarm: ErrorLine})
	t.Cleanup(m.Close)
	return newRig(t, func(e *Env) { e.Runner, e.Jobs = runner, &Jobs{Manager: m} })
}

func TestBackground(t *testing.T) {
	r := jobRig(t)
	res := r.ok("bash", m{"command": "echo up; read x; echo got $x; read x; exit 3", "background": true, "description": "Serve"})
	want := tool.Result{
		Title: "Serve", Output: "Started as job_1. Its output, its end and its input are for the job tool; it lives until the session ends.",
		Metadata: m{"job": "job_1", "output": "", "exit": nil, "description": "Serve", "truncated": false},
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	steps := []struct {
		in   m
		want string
	}{
		{m{"action": "read", "until": "^up$", "timeout": 30000}, "up\n\n<job_metadata>\njob_1 running\n</job_metadata>"},
		{m{"action": "read"}, "(no new output)\n\n<job_metadata>\njob_1 running\n</job_metadata>"},
		{m{"action": "read", "until": "never", "timeout": 5}, "(no new output)\n\n<job_metadata>\njob_1 running\nNothing matched \"never\" within 5ms.\n</job_metadata>"},
		{m{"action": "wait", "id": "job_1", "timeout": 5}, "(no new output)\n\n<job_metadata>\njob_1 running\nIt did not end within 5ms.\n</job_metadata>"},
		{m{"action": "send", "input": "it\n", "until": "got it", "timeout": 30000}, "got it\n\n<job_metadata>\njob_1 running\n</job_metadata>"},
		{m{"action": "list"}, "The jobs:\njob_1 running, 10 bytes of output: echo up; read x; echo got $x; read x; exit 3"},
		{m{"action": "send", "keys": []string{"enter"}, "until": "x", "timeout": 30000}, "(no new output)\n\n<job_metadata>\njob_1 ended with exit code 3\n</job_metadata>"},
	}
	for _, s := range steps {
		if res := r.ok("job", s.in); res.Output != s.want {
			t.Errorf("%v:\n%s\nwant:\n%s", s.in, res.Output, s.want)
		}
	}
	r.fails("job", m{"action": "send", "input": "x"}, "takes no input")
	r.fails("job", m{"action": "read", "id": "job_9"}, `There is no job "job_9": jobs end with their session and with lathe. The jobs:`)
	r.fails("job", m{"action": "read", "until": "("}, "no regular expression")
	r.fails("job", m{"action": "send", "keys": []string{"nonsense"}}, "ctrl-c")
	r.fails("job", m{"action": "send"}, "needs input")
	for range 2 { // as other agents call it
		name, _, input := r.tools.Resolve("Bash", `{"command":"sleep 1000","run_in_background":true}`)
		input, err := r.tools.Check(name, input)
		if err != nil {
			t.Fatal(err)
		}
		r.ok(name, input)
	}
	r.fails("job", m{"action": "read"}, "Say which job")
	for _, id := range []string{"job_2", "job_3"} {
		if res := r.ok("job", m{"action": "stop", "id": id}); !strings.Contains(res.Output, id+" stopped") {
			t.Errorf("%q", res.Output)
		}
		r.fails("job", m{"action": "read", "id": id}, "no job")
	}
}

func TestBackgroundTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a terminal")
	}
	r := jobRig(t)
	r.ok("bash", m{"command": `stty -echo; trap 'echo caught; exit 1' INT; [ -t 0 ] && echo a terminal; while :; do IFS= read -rsn1 k; printf 'key %q\n' "$k"; done`, "pty": true})
	for _, s := range []struct {
		in   m
		want string
	}{ // whole lines: a terminal passes on the end of a line by itself, which would begin the next output
		{m{"action": "read", "until": `a terminal\s*\n`, "timeout": 30000}, "a terminal"},
		{m{"action": "send", "keys": []string{"tab"}, "until": `key .*\n`, "timeout": 30000}, `key $'\t'`},
		{m{"action": "send", "keys": []string{"ctrl-c"}, "until": "caught", "timeout": 30000}, "caught"},
	} {
		if res := r.ok("job", s.in); !strings.HasPrefix(res.Output, s.want) {
			t.Errorf("%v: %q", s.in, res.Output)
		}
	}
}

// A background command is judged like any other, and so is what is typed into a job.
func TestJobsAreJudged(t *testing.T) {
	r := jobRig(t)
	r.ok("bash", m{"command": "bash", "background": true})
	if diff := cmp.Diff([]string{`bash bash ["bash *"]`}, r.asked()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.ok("job", m{"action": "send", "input": "touch ma"})
	r.asked()
	r.ok("job", m{"action": "send", "input": "de > b.txt\n", "idle": 1})
	if diff := cmp.Diff([]string{"edit b.txt | made", `bash touch made ["touch *"]`}, r.asked()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.deny = denies("bash")
	if _, err := r.run("job", m{"action": "send", "input": "touch refused\n"}); !errors.Is(err, errDenied) {
		t.Errorf("error %v", err)
	}
	if _, err := r.run("bash", m{"command": "touch refused", "background": true}); !errors.Is(err, errDenied) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(r.path("refused")); err == nil {
		t.Error("what was refused was run")
	}
	r.ok("job", m{"action": "list"})
	r.ok("job", m{"action": "stop"})
}

// Of much new output the beginning and the end are shown, and where the rest is.
func TestJobFloods(t *testing.T) {
	r := jobRig(t)
	r.ok("bash", m{"command": "seq 1 100000; echo done; sleep 1000", "background": true})
	res := r.ok("job", m{"action": "read", "until": "^done$", "timeout": 30000})
	path, _ := res.Metadata["outputPath"].(string)
	if !strings.HasPrefix(res.Output, "1\n2\n") || !strings.Contains(res.Output, "bytes left out; the newest output of the job is in "+path) ||
		!strings.Contains(res.Output, "\n100000\ndone\n\n<job_metadata>") || len(res.Output) > 22_000 {
		t.Errorf("%d bytes: %.100q … %q", len(res.Output), res.Output, res.Output[len(res.Output)-100:])
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	r.ok("job", m{"action": "stop"})
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is left")
	}
}

func TestDaemonBecomesJob(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs marks")
	}
	r := jobRig(t)
	res := r.ok("bash", m{"command": "(setsid bash -c 'touch up; exec sleep 1001' >/dev/null 2>&1 &); until [ -e up ]; do :; done; sleep 0.1; echo started; exit 2"})
	want := "started\n\n<bash_metadata>\nexit code 2\nLeft running as job_1: sleep 1001. It lives until the session ends; the job tool stops it.\n</bash_metadata>"
	if res.Output != want || res.Metadata["job"] != "job_1" || res.Metadata["exit"] != 2 {
		t.Errorf("%q %v", res.Output, res.Metadata)
	}
	if res := r.ok("job", m{"action": "stop"}); !strings.Contains(res.Output, "job_1 stopped") {
		t.Errorf("%q", res.Output)
	}
}

// A command that the person wants to keep goes on as a job, and the call ends at once.
func TestKeptCommand(t *testing.T) {
	r := jobRig(t)
	call := r.call(m{"command": "echo first; until [ -e go ]; do sleep 0.01; done; echo second"})
	call.Progress = func(_ string, meta map[string]any) {
		if meta["output"] == "first\n" {
			if err := r.env.Jobs.Keep("ses_1", "call_1"); err != nil {
				t.Error(err)
			}
		}
	}
	bash, _ := r.tools.Lookup("bash")
	res, err := bash.Run(t.Context(), call)
	want := "first\n\n<bash_metadata>\nThe user lets the command run on: it is job_1 now. Its further output is for the job tool.\n</bash_metadata>"
	if err != nil || res.Output != want || res.Metadata["exit"] != nil {
		t.Fatalf("%+v %v", res, err)
	}
	r.put("go", "")
	if res := r.ok("job", m{"action": "wait", "timeout": 30000}); !strings.HasPrefix(res.Output, "second\n\n<job_metadata>\njob_1 ended with exit code 0") {
		t.Errorf("%q", res.Output)
	}
}

// Ports that a job listens on are named.
func TestJobPorts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	r := jobRig(t)
	r.ok("bash", m{"command": "exec python3 -u -m http.server --bind 127.0.0.1 0", "background": true})
	res := r.ok("job", m{"action": "read", "until": `port \d+`, "timeout": 30000})
	port := regexp.MustCompile(`port (\d+)`).FindStringSubmatch(res.Output)
	if port == nil || !strings.HasSuffix(res.Output, fmt.Sprintf("job_1 running, listening on %s\n</job_metadata>", port[1])) {
		t.Errorf("%q", res.Output)
	}
}

// Jobs of a subagent belong to the session that it works for.
func TestJobOwner(t *testing.T) {
	r := jobRig(t)
	r.env.Jobs.Owner = func(_ context.Context, id lathe.SessionID) lathe.SessionID { return "ses_top" }
	r.ok("bash", m{"command": "sleep 1000", "background": true})
	if n := r.env.Jobs.Running("ses_top"); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

func TestErrorLine(t *testing.T) {
	for text, want := range map[string]string{
		"all is well\n": "",
		"one\n\x1b[31merror: no such file\x1b[0m\n": "error: no such file",
		"0 errors\n": "",
	} {
		if got := ErrorLine([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
