package shell

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxWalk bounds how many processes are looked at for one answer.
const maxWalk = 4096

// Holder says who has the socket with this inode open. It costs nothing while no
// command runs.
//
// The processes of commands are looked at first, then all that can be seen. Not
// being found among the former proves little: a process that ends has closed its
// file table before its sockets, and one whose parent ends moves in the process
// tree. So the answer HeldByOther is given only for a holder that was seen.
func (r *Runner) Holder(inode uint64) Holder {
	if !r.mayHold() {
		return HeldUnasked
	}
	before := r.marked()
	link := "socket:[" + strconv.FormatUint(inode, 10) + "]"
	w := walk{r: r, link: link, left: maxWalk}
	if w.holds(adopted(), false) {
		return HeldByCommand
	}
	last := int(r.lastOther.Load()) // most often it is the same client again
	if last != 0 && opens(last, link) == openYes && !r.startedBy(last) {
		return HeldByOther
	}
	for _, pid := range allPIDs() {
		if opens(pid, link) != openYes {
			continue
		}
		if r.startedBy(pid) {
			return HeldByCommand
		}
		r.lastOther.Store(int64(pid))
		return HeldByOther
	}
	if w.hidden || !slices.Equal(before, r.marked()) {
		return HeldHidden
	}
	return HeldUnseen
}

// Started reports whether a running command started the process. While a command
// runs, a process that is already gone counts as started by it.
func (r *Runner) Started(pid int) bool {
	return r.mayHold() && r.startedBy(pid)
}

func (r *Runner) startedBy(pid int) bool {
	m := mark{instance: r.instance}
	for range maxWalk {
		if pid <= 1 || pid == os.Getpid() {
			return false
		}
		if r.leads(pid) || m.hasLimit(pid) || m.hasVar(pid) {
			return true
		}
		st, ok := readStat(pid)
		if !ok || r.stray(pid, st) {
			return true
		}
		pid = st.parent
	}
	return true
}

// marked lists the processes with the mark of any command in their limit.
func (r *Runner) marked() []int {
	m := mark{instance: r.instance}
	pids := slices.DeleteFunc(allPIDs(), func(pid int) bool { return !m.hasLimit(pid) })
	slices.Sort(pids)
	return pids
}

// walk goes down the process tree from lathe.
type walk struct {
	r      *Runner
	link   string
	left   int
	hidden bool // a process of a command did not show what it has open
}

// holds looks at processes and all their descendants. A descendant of a
// command's process belongs to that command, whatever it did to its marks.
func (w *walk) holds(pids []int, ours bool) bool {
	m := mark{instance: w.r.instance}
	for _, pid := range pids {
		if w.left--; w.left < 0 {
			return true // no client of a person is that many processes
		}
		mine := ours || w.r.leads(pid) || m.hasLimit(pid) || m.hasVar(pid)
		if st, ok := readStat(pid); !mine && ok {
			mine = w.r.stray(pid, st)
		}
		if mine {
			switch opens(pid, w.link) {
			case openYes:
				return true
			case openHidden:
				w.hidden = true
			}
		}
		if w.holds(allChildren(pid), mine) {
			return true
		}
	}
	return false
}

type open int

const (
	openNo     open = iota
	openYes         // the process has it open
	openHidden      // it shows nothing: it ends, or may not be looked at
)

// opens looks for a link among the open files of a process.
func opens(pid int, link string) open {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	var names []string
	d, err := os.Open(dir)
	if err == nil {
		names, err = d.Readdirnames(-1)
		_ = d.Close()
	}
	if err != nil || len(names) == 0 {
		if st, ok := readStat(pid); !ok || st.dead {
			return openNo
		}
		return openHidden
	}
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil && strings.HasPrefix(to, "socket:") && to == link {
			return openYes
		}
	}
	return openNo
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
