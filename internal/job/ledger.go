package job

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/order"
	"lathe/internal/shell"
	"lathe/internal/store"
	"lathe/internal/store/local"
)

// Ledger records the jobs whose end the model has not been told yet, so that a later
// lathe can report it: one file per job, in a directory per session. The zero value
// notes nothing.
type Ledger struct {
	Dir  string
	Self func() local.Process // the process that runs the jobs; required
}

// entry is a job as the ledger has it. If it has no end and its lathe is gone, it ended
// with that lathe.
type entry struct {
	Lathe     string          `json:"lathe"` // the process that runs it
	ID        string          `json:"id"`
	Session   lathe.SessionID `json:"session"`
	CallID    string          `json:"call,omitempty"`
	Command   string          `json:"command"`
	Title     string          `json:"title,omitempty"`
	Dir       string          `json:"cwd"`
	Directory string          `json:"directory"`
	Left      bool            `json:"left,omitempty"`
	Started   time.Time       `json:"started"`
	Ended     time.Time       `json:"ended,omitzero"`
	Stopped   bool            `json:"stopped,omitempty"`
	Code      int             `json:"exit,omitempty"`
	Signal    string          `json:"signal,omitempty"`
	Kept      string          `json:"kept,omitempty"`
}

func (l Ledger) of(id lathe.SessionID) (dir string, ok bool) {
	name := string(id)
	return filepath.Join(l.Dir, name), l.Dir != "" && name != "" && filepath.Base(name) == name
}

func (l Ledger) path(i Info) (string, bool) {
	dir, ok := l.of(i.Session)
	if !ok {
		return "", false
	}
	self := l.Self()
	return filepath.Join(dir, strconv.Itoa(self.PID)+"-"+self.Start+"-"+i.ID), true
}

// put records a job's state.
func (l Ledger) put(i Info) error {
	path, ok := l.path(i)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(entry{
		Lathe: l.Self().Owner().ID, ID: i.ID, Session: i.Session, CallID: i.CallID, Command: i.Command, Title: i.Title, Dir: i.Dir, Directory: i.Directory,
		Left: i.Left, Started: i.Started, Ended: i.Ended, Stopped: i.Stopped, Code: i.Exit.Code, Signal: i.Exit.Signal, Kept: i.Kept,
	})
	if err != nil {
		return err
	}
	part := path + ".part"
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(part, raw, 0o600), os.Rename(part, path))
}

// drop forgets a job once the model has been told.
func (l Ledger) drop(path string) {
	if path == "" || os.Remove(path) != nil {
		return
	}
	_ = os.Remove(filepath.Dir(path)) // fails unless this was the last file
}

// forget removes what is noted of a session.
func (l Ledger) forget(id lathe.SessionID) {
	if dir, ok := l.of(id); ok {
		_ = os.RemoveAll(dir)
	}
}

// lost is a job that ended with the lathe that ran it, or before.
type lost struct {
	info Info
	path string
}

// lost returns the jobs of a session whose lathe is gone; an empty id means those of all
// sessions.
func (l Ledger) lost(id lathe.SessionID) (out []lost) {
	if id == "" && l.Dir != "" {
		dirs, _ := os.ReadDir(l.Dir)
		for _, d := range dirs {
			out = append(out, l.lost(lathe.SessionID(d.Name()))...)
		}
		return out
	}
	dir, ok := l.of(id)
	if !ok {
		return nil
	}
	files, _ := os.ReadDir(dir) // usually there are none
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if i, ok := l.read(path); ok {
			out = append(out, lost{i, path})
		}
	}
	order.Stable(out, func(a, b lost) int { return a.info.Started.Compare(b.info.Started) })
	return out
}

// living reports whether a lathe that runs has a job of the session.
func (l Ledger) living(id lathe.SessionID) bool {
	dir, ok := l.of(id)
	if !ok {
		return false
	}
	files, _ := os.ReadDir(dir) // usually there are none
	for _, f := range files {
		var e entry
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil || json.Unmarshal(raw, &e) != nil || !e.Ended.IsZero() {
			continue
		}
		if p, err := local.ProcessOf(store.Owner{ID: e.Lathe}); err == nil && p.Living(l.Self()) {
			return true
		}
	}
	return false
}

func (l Ledger) read(path string) (i Info, ok bool) {
	raw, err := os.ReadFile(path)
	var e entry
	if err != nil || filepath.Ext(path) == ".part" {
		return i, false
	}
	if json.Unmarshal(raw, &e) != nil || e.ID == "" { // cut off by a crash of the machine
		l.drop(path)
		return i, false
	}
	p, err := local.ProcessOf(store.Owner{ID: e.Lathe})
	if err == nil && p.Living(l.Self()) {
		return i, false
	}
	i = Info{
		ID: e.ID, Session: e.Session, CallID: e.CallID, Command: e.Command, Title: e.Title, Dir: e.Dir, Directory: e.Directory, Left: e.Left,
		Started: e.Started, Ended: e.Ended, Stopped: e.Stopped, Exit: shell.Exit{Code: e.Code, Signal: e.Signal}, Kept: e.Kept,
	}
	if i.Lost = i.Ended.IsZero(); i.Lost {
		if info, err := os.Stat(path); err == nil {
			i.Ended = info.ModTime()
		}
	}
	return i, true
}
