package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/shell"
)

// KeptPrefix begins the names of kept jobs.
const KeptPrefix = "kept_"

const (
	keptFile   = "job.json"
	keptOutput = "output"
	// keeperEnd is how long a keeper may take to end after its job.
	keeperEnd = 5 * time.Second
)

// Kept is a job that was left to the person: it outlives the lathe that started it,
// with a keeper that takes its output. Its newest output is in a directory of its
// own.
type Kept struct {
	ID        string // its name, unique among kept jobs
	Job       string // its name in its session
	Session   lathe.SessionID
	Command   string
	Title     string
	Dir       string
	Directory string
	Terminal  bool
	Left      bool
	Started   time.Time
	Ended     time.Time // zero while it runs
	Ports     []int

	dir             string // with its files
	process, keeper shell.Handle
	output          span
}

// Running reports whether it has not ended.
func (k *Kept) Running() bool { return k.Ended.IsZero() }

// span says which part of all output is in the files.
type span struct {
	First int64 `json:"first"` // position of what is kept
	From  int64 `json:"from"`  // of the newest segment
	Total int64 `json:"total"`
}

// keptDoc is how a kept job is stored.
type keptDoc struct {
	Job       string          `json:"job"`
	Session   lathe.SessionID `json:"session"`
	Command   string          `json:"command"`
	Title     string          `json:"title,omitempty"`
	Dir       string          `json:"cwd"`
	Directory string          `json:"directory"`
	Terminal  bool            `json:"terminal,omitempty"`
	Left      bool            `json:"left,omitempty"`
	Started   time.Time       `json:"started"`
	Ended     time.Time       `json:"ended,omitzero"`
	Process   shell.Handle    `json:"process"`
	Keeper    shell.Handle    `json:"keeper"`
	Output    span            `json:"output"`
}

func (k *Kept) save() error {
	raw, err := json.Marshal(keptDoc{
		Job: k.Job, Session: k.Session, Command: k.Command, Title: k.Title, Dir: k.Dir, Directory: k.Directory, Terminal: k.Terminal,
		Left: k.Left, Started: k.Started, Ended: k.Ended, Process: k.process, Keeper: k.keeper, Output: k.output,
	})
	if err != nil {
		return err
	}
	part := filepath.Join(k.dir, keptFile+"."+strconv.Itoa(os.Getpid())) // lathe and the keeper may both write
	return errors.Join(os.WriteFile(part, raw, 0o600), os.Rename(part, filepath.Join(k.dir, keptFile)))
}

func loadKept(dir string) (*Kept, error) {
	raw, err := os.ReadFile(filepath.Join(dir, keptFile))
	if err != nil {
		return nil, err
	}
	var d keptDoc
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, keptFile), err)
	}
	return &Kept{
		ID: filepath.Base(dir), Job: d.Job, Session: d.Session, Command: d.Command, Title: d.Title, Dir: d.Dir, Directory: d.Directory,
		Terminal: d.Terminal, Left: d.Left, Started: d.Started, Ended: d.Ended, dir: dir, process: d.Process, keeper: d.Keeper, output: d.Output,
	}, nil
}

// Keepers says where kept jobs are recorded, and what keeps them.
type Keepers struct {
	Dir  string   // private to the person
	Args []string // command line that runs [KeeperMain]; needed to keep a job
}

// newKept makes a record with a name that no other has.
func (s Keepers) newKept(i Info) (*Kept, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(s.Dir, KeptPrefix+strconv.Itoa(n))
		switch err := os.Mkdir(dir, 0o700); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, err
		}
		return &Kept{
			ID: filepath.Base(dir), Job: i.ID, Session: i.Session, Command: i.Command, Title: i.Title, Dir: i.Dir, Directory: i.Directory,
			Terminal: i.Terminal, Left: i.Left, Started: i.Started, dir: dir,
		}, nil
	}
}

// List shows the kept jobs, oldest first, and returns how many show accepted. One that
// has ended and was shown is removed, with its output.
func (s Keepers) List(show func(*Kept) bool) (n int, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var all []*Kept
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), KeptPrefix) {
			continue
		}
		k, err := loadKept(filepath.Join(s.Dir, e.Name()))
		if err != nil {
			continue // it is just being made or removed
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *Kept) int { return a.Started.Compare(b.Started) })
	for _, k := range all {
		k.look()
		if !show(k) {
			continue
		}
		if n++; !k.Running() {
			k.remove()
		}
	}
	return n, err
}

// Clean removes what is left of jobs that ended before a time and were not looked at
// since, and anything left by a lathe that was killed while it made a record.
func (s Keepers) Clean(before time.Time) {
	entries, _ := os.ReadDir(s.Dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), KeptPrefix) {
			continue
		}
		dir := filepath.Join(s.Dir, e.Name())
		k, err := loadKept(dir)
		if err == nil {
			k.look()
		}
		info, gone := e.Info()
		switch {
		case gone != nil, err == nil && k.Running():
		case err == nil && k.Ended.Before(before), err != nil && info.ModTime().Before(before):
			_ = os.RemoveAll(dir)
		}
	}
}

// Get returns a kept job, even one that has ended.
func (s Keepers) Get(id string) (*Kept, error) {
	if !strings.HasPrefix(id, KeptPrefix) || filepath.Base(id) != id {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	k, err := loadKept(filepath.Join(s.Dir, id))
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	k.look()
	return k, nil
}

// look finds out the job's state.
func (k *Kept) look() {
	if k.Ended.IsZero() && len(k.process.PIDs()) == 0 {
		k.Ended = time.Now()
		if info, err := os.Stat(filepath.Join(k.dir, keptOutput)); err == nil {
			k.Ended = info.ModTime()
		}
	}
	if k.Running() {
		k.Ports = k.process.Ports()
	}
}

// Stop ends the job and removes its record, with the output.
func (k *Kept) Stop() error {
	if !k.process.Stop(grace) {
		return fmt.Errorf("%s does not end although it was killed: processes %v", k.ID, k.process.PIDs())
	}
	k.remove()
	return nil
}

// remove first waits for the keeper, which may still be writing.
func (k *Kept) remove() {
	late := make(chan struct{})
	timer := time.AfterFunc(keeperEnd, func() { close(late) })
	defer timer.Stop()
	if !k.keeper.Wait(late) {
		k.keeper.Stop(0)
	}
	_ = os.RemoveAll(k.dir)
}
