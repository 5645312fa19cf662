package undo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/job"
	"lathe/internal/say"
	"lathe/internal/snapshot"
	"lathe/internal/workspace"
)

// A job writes whenever it likes. What changes while no tool of a step could have done
// it is recorded as the job's; what a command of the same step may have done too is
// shared. A person's own editor cannot be told from a job.

// watching is what is known about jobs since a certain moment.
type watching struct {
	mu    sync.Mutex
	since time.Time
	wrote map[*job.Job]int64 // how much each had written then
	tree  string             // the last known tree; empty: none
	at    time.Time          // when that was
}

// WatchJobs begins to watch what jobs write, before a step or a command. It costs
// nothing if no job runs.
func (u *Changes) WatchJobs(top string) {
	if u.jobs == nil {
		return
	}
	w := &u.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.wrote = u.now(), nil
	for _, j := range u.jobs.During(top, w.since) {
		if n, ok := j.Wrote(); ok {
			if w.wrote == nil {
				w.wrote = map[*job.Job]int64{}
			}
			w.wrote[j] = n
		}
	}
}

// writingJobs returns the jobs that may have written files since the watch began.
func (u *Changes) writingJobs(top string) (jobs []*job.Job) {
	if u.jobs == nil {
		return nil
	}
	w := &u.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range u.jobs.During(top, w.since) {
		n, ok := j.Wrote()
		if before := w.wrote[j]; !ok || n != before { // a job that began since then had written nothing
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// seen records the current tree. What differs from the tree before it changed
// between the steps of the session, most likely by jobs that were running.
func (u *Changes) seen(ctx context.Context, store *snapshot.Store, tree string, between bool) {
	if u.jobs == nil {
		return
	}
	w := &u.watching
	w.mu.Lock()
	last, at := w.tree, w.at
	w.tree, w.at = tree, u.now()
	w.mu.Unlock()
	if !between || last == "" || last == tree {
		return
	}
	u.attribute(ctx, store, last, tree, at)
}

// forgetTree is called when lathe itself changes files between steps.
func (u *Changes) forgetTree() {
	u.watching.mu.Lock()
	defer u.watching.mu.Unlock()
	u.watching.tree = ""
}

func (u *Changes) attribute(ctx context.Context, store *snapshot.Store, from, to string, since time.Time) {
	jobs := u.jobs.During(store.Top(), since)
	if len(jobs) == 0 {
		return
	}
	files, err := store.Changed(ctx, from, to)
	if err != nil {
		u.log.Warn("what jobs changed is not known", "session", u.current().ID, "err", err)
		return
	}
	for _, j := range jobs {
		j.Changed(u.now(), files...)
	}
}

// sortJobs says which of a step's files jobs may have written. Those that no tool of the
// step can have written are recorded as the jobs'. All of these are shared.
func (w writers) sortJobs(files []string, jobs []*job.Job, now time.Time) (shared []string) {
	for _, f := range files {
		end, mine := w.own.named[f]
		switch {
		case mine && unchangedSince(f, end):
			continue
		case !mine && !w.own.unnamed && !w.own.writing[f]:
			for _, j := range jobs {
				j.Changed(now, f)
			}
		}
		shared = append(shared, f)
	}
	return shared
}

// answer returns the newest message of the session.
func (u *Changes) answer(ctx context.Context) (lathe.Message, error) {
	newest, err := u.sessions.Messages(ctx, u.current().ID, 1)
	if err != nil || len(newest) == 0 {
		return lathe.Message{}, err
	}
	return newest[len(newest)-1], nil
}

// inForeground returns an answer without the calls that only started jobs: what those
// write belongs to the jobs.
func inForeground(m lathe.Message) lathe.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p lathe.Part) bool {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok || call.Tool != "bash" {
			return false
		}
		done, ok := call.State.(*lathe.ToolDone)
		var in struct{ Background, PTY bool }
		return ok && json.Unmarshal(done.Input, &in) == nil && (in.Background || in.PTY)
	})
	return m
}

// namedFiles bounds how many files of one job a revert names.
const namedFiles = 50

// jobsKept returns, as conflicts, what jobs wrote outside the steps since a certain
// time: nothing was recorded from which it could be undone.
func (u *Changes) jobsKept(ctx context.Context, since time.Time, targets []snapshot.Target) (out []snapshot.Conflict) {
	if u.jobs == nil {
		return nil
	}
	store, err := u.inst.Snapshots()
	if err != nil {
		return nil
	}
	jobs := u.jobs.During(store.Top(), since)
	if len(jobs) == 0 {
		return nil
	}
	if now, err := store.Track(ctx); err == nil {
		u.seen(ctx, store, now, true)
	}
	named := map[string]bool{}
	for _, t := range targets {
		named[t.Path] = true
	}
	for _, j := range jobs {
		files := slices.DeleteFunc(j.ChangedSince(since), func(f string) bool { return named[f] || !workspace.Within(store.Top(), f) })
		info := j.Info()
		reason := fmt.Sprintf("%s (%s) wrote it, or somebody outside of lathe", info.ID, brief(info.Command))
		if info.Running() {
			reason += ", and goes on"
		}
		for i, f := range files {
			if i == namedFiles {
				out = append(out, snapshot.Conflict{Path: store.Top(), Reason: fmt.Sprintf("%s wrote %s", info.ID, say.Plural(len(files)-i, "more file"))})
				break
			}
			named[f] = true
			out = append(out, snapshot.Conflict{Path: f, Reason: reason})
		}
	}
	return out
}

func brief(command string) string {
	if r := []rune(command); len(r) > 60 {
		command = string(r[:59]) + "…"
	}
	return command
}
