package shell

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// tree is what a process knows of its children. All runners of the process share
// one, because the kernel lets only the process as a whole adopt orphans and list
// its children.
type tree struct {
	instance uint64
	ownLimit bool // lathe has the limit that tells its own programs from commands'
	calls    atomic.Uint64
	spawning sync.Mutex // held while a shell is started
	starting starting

	mu      sync.Mutex
	running map[uint64]int // the shells of the calls that run; 0 where one is being started
	helpers map[int]bool   // supervisors, keepers, and what holds sandboxes
	held    bool           // a process of a command could not be ended
	idle    chan struct{}  // closed when no call is running; nil if nobody waits for that
}

var processTree = sync.OnceValue(func() *tree {
	t := &tree{instance: newInstance(), running: map[uint64]int{}, helpers: map[int]bool{}}
	t.ownLimit = mark{instance: t.instance}.setOwn()
	return t
})

// enter notes that a call has begun.
func (t *tree) enter(call uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[call] = 0
	adoptOrphans(true)
}

func (t *tree) leave(call uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, call)
	if len(t.running) == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	if len(t.running) == 0 && !t.held {
		adoptOrphans(false)
	}
}

// lead notes the shell of a call, or with 0 that it has ended.
func (t *tree) lead(call uint64, pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, runs := t.running[call]; runs {
		t.running[call] = pid
	}
}

// help notes a supervisor, or that it is gone.
func (t *tree) help(pid int, runs bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if runs {
		t.helpers[pid] = true
	} else {
		delete(t.helpers, pid)
	}
}

// helps reports whether the process is a helper.
func (t *tree) helps(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.helpers[pid]
}

// holders lists the helpers.
func (t *tree) holders() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.helpers))
}

// leads reports whether the process is the shell of a call that runs, or a
// supervisor.
func (t *tree) leads(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.helpers[pid] {
		return true
	}
	for _, leader := range t.running {
		if leader == pid {
			return true
		}
	}
	return false
}

// calling lists the calls that run.
func (t *tree) calling() []uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.running))
}

// mayHold reports whether there can be processes of commands.
func (t *tree) mayHold() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.running) > 0 || t.held
}
