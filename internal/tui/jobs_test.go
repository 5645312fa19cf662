package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
)

func (f *ableFake) Jobs(context.Context, api.JobFilter) ([]api.Job, error) {
	return []api.Job{
		{ID: "job_1", Command: "npm run dev", Running: true, State: "running", Ports: []int{5173}, Output: 40},
		{ID: "job_2", Command: "python3 -i", Running: true, State: "running", Terminal: true},
		{ID: "job_3", Command: "make watch", State: "ended with exit code 2"},
	}, nil
}

func (f *ableFake) JobOutput(_ context.Context, id string, from int64, _ bool) (io.ReadCloser, int64, error) {
	if f.breaks > 0 { // the connection, after a line
		f.breaks--
		line := fmt.Sprintf("line at %d\n", from)
		return io.NopCloser(io.MultiReader(strings.NewReader(line), iotest.ErrReader(io.ErrUnexpectedEOF))), from, nil
	}
	return io.NopCloser(strings.NewReader("\x1b[2Jready in 0.3 s\n  10%\r100% \x1b[32m完了\x1b[0m\nlistening on http://localhost:5173\n")), 0, nil
}

func (f *ableFake) TypeJob(_ context.Context, id string, in api.JobInput) error {
	f.jobCalls = append(f.jobCalls, id+" "+in.Data+strings.Join(in.Keys, " "))
	return nil
}

func (f *ableFake) StopJob(_ context.Context, id string) (api.Job, error) {
	f.jobCalls = append(f.jobCalls, "stop "+id)
	return api.Job{ID: id, State: "stopped"}, nil
}

func (f *ableFake) KeepCall(_ context.Context, id lathe.SessionID, callID string) error {
	f.jobCalls = append(f.jobCalls, "keep "+string(id)+" "+callID)
	return nil
}

func TestJobsAreStoppedAndKept(t *testing.T) {
	d, f := ableTo(t, Options{}, question(1, "Start it."))
	run := func(name string) { d.typed("/" + name); d.press("esc", "enter") }
	run("jobs")
	d.shows("npm run dev", "running :5173", "ended with exit code 2")
	d.press("down", "ctrl+k")
	d.press("esc")
	run("keep")
	if diff := cmp.Diff([]string{"stop job_2", "keep ses_1 "}, f.jobCalls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// When the server that a job's output comes from is gone, it goes on where it was at another.
func TestJobOutputGoesOn(t *testing.T) {
	d, f := ableTo(t, Options{}, question(1, "Start it."))
	f.breaks = 2
	d.typed("/jobs")
	d.press("esc", "enter", "enter")
	d.shows("job_1 (ended) npm run dev", "line at 0", "line at 10", "listening on http://localhost:5173")
}

// What a job prints is shown as it comes, and steers nothing.
func TestJobOutput(t *testing.T) {
	d, _ := ableTo(t, Options{}, question(1, "Start it."))
	d.typed("/jobs")
	d.press("esc", "enter", "enter")
	d.shows("job_1 (ended) npm run dev", "ready in 0.3 s", "100% 完了", "listening on http://localhost:5173")
	d.hides("10%  ")
	d.harmless()
	d.press("esc", "esc")
	d.hides("listening on")
}
