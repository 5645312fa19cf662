package job

import (
	"fmt"
	"strings"

	"lathe"
)

// history is how much of a job's output is shown to who attaches to its terminal.
const history = 256 << 10

// TerminalID names the terminal of a job among the terminals that clients attach to.
func TerminalID(id string) string { return lathe.PrefixPTY + "_" + id }

// ofTerminal is [TerminalID] read backwards; "" for a terminal that is not a job's.
func ofTerminal(id string) string {
	job := strings.TrimPrefix(id, lathe.PrefixPTY+"_")
	if job == id || !strings.HasPrefix(job, lathe.PrefixJob+"_") {
		return ""
	}
	return job
}

// Terminal returns the job that runs in a terminal that clients attach to.
func (m *Manager) Terminal(id string) (*Job, error) {
	if name := ofTerminal(id); name != "" {
		j, err := m.Get("", name)
		if err == nil && j.info.Terminal && j.running() {
			return j, nil
		}
	}
	return nil, fmt.Errorf("%w: no terminal %q", ErrNotFound, id)
}

// Reader follows what a job prints by its position, so that a slow one costs nothing.
type Reader struct {
	out *Output
	at  int64
}

// Attach follows a job's output from some way back on.
func (j *Job) Attach() *Reader {
	return &Reader{out: j.out, at: max(0, j.out.Total()-history)}
}

// Next waits for output and returns it; false after the end, or when cancel is closed.
func (r *Reader) Next(cancel <-chan struct{}) ([]byte, bool) {
	buf := make([]byte, 32<<10)
	for {
		n, at, over, err := r.out.Read(buf, r.at)
		if err != nil {
			return nil, false
		}
		if r.at = at + int64(n); n > 0 {
			return buf[:n], true
		}
		if over {
			return nil, false
		}
		select {
		case <-r.out.Next(r.at):
		case <-cancel:
			return nil, false
		}
	}
}

// Behind reports whether it was ended for being slow, which it never is.
func (r *Reader) Behind() bool { return false }

// Close has nothing to do.
func (r *Reader) Close() {}
