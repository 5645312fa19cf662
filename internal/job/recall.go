package job

import (
	"slices"

	"lathe"
)

// note puts a job that began into the ledger.
func (m *Manager) note(j *Job) {
	j.note, _ = m.opts.Ledger.path(j.info)
	m.put(j)
}

// noteEnd records how a job ended. A job that ends with lathe stays recorded as running,
// which tells the next lathe that it was lost.
func (m *Manager) noteEnd(j *Job) {
	m.mu.Lock()
	with := m.closed
	m.mu.Unlock()
	if info := j.Brief(); !with || info.Kept != "" {
		m.put(j)
	}
}

func (m *Manager) put(j *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dropped {
		return
	}
	if err := m.opts.Ledger.put(j.info); err != nil {
		m.opts.Log.Debug("a job could not be noted", "session", j.info.Session, "err", err)
	}
}

// drop takes the job out of the ledger: its end was told, or nobody needs to know. The
// caller holds j.mu.
func (j *Job) drop() {
	j.dropped = true
	j.m.opts.Ledger.drop(j.note)
}

// Recall adds the session's jobs that ended with an earlier lathe and were not
// reported yet, so that they are listed and reported; an empty id means those of
// all sessions. If there are none it costs one look for a directory.
func (m *Manager) Recall(id lathe.SessionID) {
	for _, l := range slices.Backward(m.opts.Ledger.lost(id)) { // each is inserted in front
		j := &Job{m: m, out: newOutput(nil), done: make(chan struct{}), info: l.info, note: l.path}
		j.out.end()
		close(j.done)
		m.mu.Lock()
		if !m.knows(j) {
			m.all = append([]*Job{j}, m.all...)
		}
		m.mu.Unlock()
	}
}

// knows reports whether a job was recalled before, and makes sure that its name is
// free. The caller holds mu.
func (m *Manager) knows(lost *Job) bool {
	for _, j := range m.all {
		if j.note == lost.note {
			return true
		}
		if j.info.ID == lost.info.ID && j.info.Session == lost.info.Session {
			lost.info.ID = m.free()
		}
	}
	return false
}
