package server

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// jobFace is a client of a server, and a session there whose model has just played
// a script that starts jobs.
type jobFace struct {
	*client.Client
	t    *testing.T
	rig  *rig
	id   lathe.SessionID
	last api.Outcome
}

func newJobFace(t *testing.T, calls ...string) *jobFace {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX shell")
	}
	r := newRig(t)
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	sess, err := c.Create(t.Context(), api.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	f := &jobFace{Client: c, t: t, rig: r, id: sess.ID}
	model := lathe.ModelRef{Provider: "script", Model: r.script("jobs.txt", strings.Join(append(calls, "text done"), "\n---\n"))}
	id, err := c.Prompt(t.Context(), sess.ID, api.Prompt{Model: model, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}})
	if err == nil {
		f.last, err = c.Outcome(t.Context(), sess.ID, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// jobs lists what a filter finds, without what differs from run to run.
func (f *jobFace) jobs(filter api.JobFilter) []api.Job {
	f.t.Helper()
	list, err := f.Jobs(f.t.Context(), filter)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := range list {
		if list[i].PID == 0 || list[i].Started == 0 || list[i].Running != (list[i].Ended == 0) {
			f.t.Errorf("%+v", list[i])
		}
	}
	return list
}

// until reads the output that follows a position until it holds a text.
func (f *jobFace) until(id string, from int64, text string) (read string, out io.ReadCloser) {
	f.t.Helper()
	out, at, err := f.JobOutput(f.t.Context(), id, from, true)
	if err != nil || at != from {
		f.t.Fatalf("at %d, not %d: %v", at, from, err)
	}
	buf := make([]byte, 1<<10)
	for !strings.Contains(read, text) {
		n, err := out.Read(buf)
		read += string(buf[:n])
		if err != nil {
			f.t.Fatalf("%q ends without %q: %v", read, text, err)
		}
	}
	return read, out
}

// A person sees a job through the server, reads it while it runs, types into it and
// reads to its end.
func TestJobOverTheServer(t *testing.T) {
	const script = "echo up; read x; echo got $x; read x; exit 3"
	f := newJobFace(t, `tool bash {"command":"`+script+`","background":true,"description":"Serve"}`)
	ctx := t.Context()
	first, out := f.until("job_1", 0, "up\n")
	want := []api.Job{{
		ID: "job_1", SessionID: f.id, Command: script, Title: "Serve", Dir: f.rig.dir, Directory: f.rig.dir, Running: true, State: "running", Output: 3,
	}}
	varies := cmpopts.IgnoreFields(api.Job{}, "PID", "Started", "Ended", "CallID", "Path")
	if diff := cmp.Diff(want, f.jobs(api.JobFilter{SessionID: f.id}), varies); diff != "" || first != "up\n" {
		t.Errorf("output %q, (-want +got):\n%s", first, diff)
	}
	if diff := cmp.Diff(want, f.jobs(api.JobFilter{}), varies); diff != "" {
		t.Errorf("of the directory (-want +got):\n%s", diff)
	}
	if err := f.TypeJob(ctx, "job_1", api.JobInput{Data: "it\n"}); err != nil {
		t.Fatal(err)
	}
	for rest := ""; !strings.Contains(rest, "got it\n"); {
		buf := make([]byte, 64)
		n, err := out.Read(buf)
		if rest += string(buf[:n]); err != nil {
			t.Fatalf("%q: %v", rest, err)
		}
	}
	if err := f.TypeJob(ctx, "job_1", api.JobInput{Keys: []string{"enter"}}); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 { // to the end of the job
		t.Errorf("%q, %v", rest, err)
	}
	_ = out.Close()
	want[0].Running, want[0].State, want[0].Code, want[0].Output = false, "ended with exit code 3", 3, 10
	if diff := cmp.Diff(want, f.jobs(api.JobFilter{All: true}), varies); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
	part, at, err := f.JobOutput(ctx, "job_1", 7, false)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if text, err := io.ReadAll(part); string(text) != "it\n" || at != 7 || err != nil {
		t.Errorf("from 7: %q at %d, %v", text, at, err)
	}
}

// Stopping a job answers when its process is gone. What cannot be says why.
func TestStoppingJobsOverTheServer(t *testing.T) {
	f := newJobFace(t, `tool bash {"command":"trap '' TERM; echo up; while :; do read -r x || sleep 1000; done","background":true}`)
	_, out := f.until("job_1", 0, "up\n")
	defer out.Close()
	for _, tt := range []struct {
		err  error
		code lathe.Code
	}{
		{f.TypeJob(t.Context(), "job_1", api.JobInput{Keys: []string{"up"}}), lathe.CodeInvalid}, // needs a terminal
		{f.ResizeJob(t.Context(), "job_1", api.JobSize{Rows: 10, Cols: 20}), lathe.CodeInvalid},
		{f.ResizeJob(t.Context(), "job_1", api.JobSize{}), lathe.CodeInvalid},
		{f.TypeJob(t.Context(), "job_2", api.JobInput{Data: "x"}), lathe.CodeNotFound},
		{f.KeepCall(t.Context(), f.id, ""), lathe.CodeNotFound},
		{f.TypeJob(t.Context(), "job_1", api.JobInput{Data: "", Keys: []string{"nope"}}), lathe.CodeInvalid},
	} {
		if lathe.CodeOf(tt.err) != tt.code {
			t.Errorf("%v, want %s", tt.err, tt.code)
		}
	}
	j, err := f.StopJob(t.Context(), "job_1")
	if err != nil || j.Running || j.State != "stopped" {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(j.PID))); runtime.GOOS == "linux" && err == nil {
		t.Error("its process is still there")
	}
	if again, err := f.StopJob(t.Context(), "job_1"); err != nil || again.State != "stopped" {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := f.StopJob(t.Context(), "job_7"); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("%v", err)
	}
	if _, _, err := f.JobOutput(t.Context(), "job_7", 0, true); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// A job with a terminal takes keys and a size.
func TestTerminalOfAJobOverTheServer(t *testing.T) {
	f := newJobFace(t, `tool bash {"command":"trap 'echo now $(stty size); exit' WINCH; echo up; while :; do read -r x; done","background":true,"pty":true}`)
	_, out := f.until("job_1", 0, "up\r\n")
	if err := f.ResizeJob(t.Context(), "job_1", api.JobSize{Rows: 11, Cols: 22}); err != nil {
		t.Fatal(err)
	}
	if err := f.TypeJob(t.Context(), "job_1", api.JobInput{Keys: []string{"enter"}}); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if !strings.Contains(string(rest), "now 11 22\r\n") || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	_ = out.Close()
}

// Who leaves while following ends only the following.
func TestLeavingAFollowedJob(t *testing.T) {
	f := newJobFace(t, `tool bash {"command":"echo up; exec sleep 1000","background":true}`)
	ctx, leave := context.WithCancel(t.Context())
	out, _, err := f.JobOutput(ctx, "job_1", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 3)
	if _, err := io.ReadFull(out, buf); err != nil || string(buf) != "up\n" {
		t.Fatalf("%q, %v", buf, err)
	}
	leave()
	if _, err := out.Read(buf); err == nil {
		t.Error("more came")
	}
	_ = out.Close()
	if all := f.jobs(api.JobFilter{SessionID: f.id}); len(all) != 1 || !all[0].Running {
		t.Errorf("%+v", all)
	}
	if err := f.Delete(t.Context(), f.id); err != nil {
		t.Fatal(err)
	}
	if all := f.jobs(api.JobFilter{All: true}); len(all) != 0 {
		t.Errorf("after the session: %+v", all)
	}
}
