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

// noteEnd notes how a job ended. One that ends with lathe stays noted as running: the next
// lathe knows from that.
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

// drop takes the job out of the ledger: its end was told, or is nobody's business. The
// caller holds j.mu.
func (j *Job) drop() {
	j.dropped = true
	j.m.opts.Ledger.drop(j.note)
}

// Recall takes in the jobs of a session that ended with a lathe before this one and
// were not told of, so that they are listed and are news; an empty id means of all
// sessions. It costs a look for a directory where there are none.
func (m *Manager) Recall(id lathe.SessionID) {
	for _, l := range slices.Backward(m.opts.Ledger.lost(id)) { // each goes before the others
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

// knows reports whether a job was recalled before, and sees to its name. The caller
// holds mu.
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
