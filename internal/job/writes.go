package job

import (
	"maps"
	"slices"
	"time"

	"lathe/internal/workspace"
)

// maxFiles limits how many files are remembered for a job that writes a lot.
const maxFiles = 1000

// During returns the jobs in a directory and below that ran at some time since then.
func (m *Manager) During(top string, since time.Time) []*Job {
	return slices.DeleteFunc(m.Of(""), func(j *Job) bool {
		i := j.Brief()
		return i.Lost || !i.Running() && i.Ended.Before(since) || !workspace.Within(top, i.Dir) && !workspace.Within(top, i.Directory)
	})
}

// Wrote says how much the job has written to files; see [shell.Process.Wrote].
// Nothing is known of one that has ended.
func (j *Job) Wrote() (int64, bool) {
	if j.proc == nil || !j.running() {
		return 0, false
	}
	return j.proc.Wrote()
}

// Changed notes files that changed at a time when only the job, or somebody outside of
// lathe, can have changed them; see [Info.Files].
func (j *Job) Changed(at time.Time, files ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range files {
		if _, known := j.files[f]; known || len(j.files) < maxFiles {
			if j.files == nil {
				j.files = map[string]time.Time{}
			}
			j.files[f] = at
		}
	}
	j.info.Files = slices.Sorted(maps.Keys(j.files))
}

// ChangedSince returns the files of the job that changed after a time.
func (j *Job) ChangedSince(t time.Time) (files []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.info.Files {
		if j.files[f].After(t) {
			files = append(files, f)
		}
	}
	return files
}
