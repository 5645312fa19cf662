package shell

import (
	"os"
	"strconv"
	"strings"
)

// maxWalk bounds how many processes are looked at for one answer.
const maxWalk = 4096

// Holds reports whether a process that a running command started has the socket
// with this inode open. It looks at the commands' processes only, and costs
// nothing while no command runs.
func (r *Runner) Holds(inode uint64) bool {
	leaders := r.running()
	if len(leaders) == 0 {
		return false
	}
	w := walk{r: r, leaders: leaders, link: "socket:[" + strconv.FormatUint(inode, 10) + "]", left: maxWalk}
	return w.holds(adopted(), false)
}

// Started reports whether a running command started the process. While a command
// runs, a process that is not there any more counts as one of its own.
func (r *Runner) Started(pid int) bool {
	leaders := r.running()
	if len(leaders) == 0 {
		return false
	}
	m := mark{instance: r.instance}
	for range maxWalk {
		if pid <= 1 || pid == os.Getpid() {
			return false
		}
		if leaders[pid] || m.hasLimit(pid) || m.hasVar(pid) {
			return true
		}
		st, ok := readStat(pid)
		if !ok {
			return true
		}
		pid = st.parent
	}
	return true
}

// running returns the shells of the commands that run.
func (r *Runner) running() map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active == 0 {
		return nil
	}
	out := make(map[int]bool, len(r.leaders)+1)
	out[-1] = true // one may just be starting
	for pid := range r.leaders {
		out[pid] = true
	}
	return out
}

// walk goes down the process tree from lathe.
type walk struct {
	r       *Runner
	leaders map[int]bool
	link    string
	left    int
}

// holds looks at processes, and at all below them. What descends from a process
// of a command is of that command, whatever it did to its marks.
func (w *walk) holds(pids []int, ours bool) bool {
	m := mark{instance: w.r.instance}
	for _, pid := range pids {
		if w.left--; w.left < 0 {
			return true // that many processes are not a person's client
		}
		mine := ours || w.leaders[pid] || m.hasLimit(pid) || m.hasVar(pid)
		if mine && w.open(pid) || w.holds(allChildren(pid), mine) {
			return true
		}
	}
	return false
}

func (w *walk) open(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil && strings.HasPrefix(to, "socket:") && to == w.link {
			return true
		}
	}
	return false
}

// allChildren lists the direct children of a process, of any of its threads.
func allChildren(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	tasks, _ := d.Readdirnames(-1)
	var out []int
	for _, task := range tasks {
		out = append(out, childrenOf(dir+"/"+task)...)
	}
	return out
}
