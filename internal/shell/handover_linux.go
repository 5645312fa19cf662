package shell

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func bootID() string {
	raw, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(raw))
}

// handleOf names one process that runs.
func handleOf(pid int) Handle {
	st, _ := readStat(pid)
	return Handle{Boot: bootID(), PID: pid, Began: st.began}
}

func (p *process) handle() Handle {
	h := handleOf(p.proc.Pid)
	h.Instance, h.Call = p.mark.instance, p.mark.call
	if p.leader() == 0 {
		h.PID, h.Began = 0, 0
	}
	return h
}

// leader is the first process, or 0 when that has ended.
func (h Handle) leader() int {
	if h.PID <= 0 {
		return 0
	}
	if st, ok := readStat(h.PID); !ok || st.dead || st.began != h.Began {
		return 0
	}
	return h.PID
}

// PIDs lists the processes that are alive.
func (h Handle) PIDs() []int {
	if h.Boot != bootID() {
		return nil
	}
	leader := h.leader()
	var pids []int
	switch {
	case h.Instance != 0:
		pids = mark{h.Instance, h.Call}.tree(leader)
	case leader != 0:
		pids = []int{leader}
	}
	slices.Sort(pids)
	return pids
}

// Ports lists the TCP ports that the processes listen on.
func (h Handle) Ports() []int { return listening(h.PIDs()) }

// Wait returns when all processes have ended; false means that stop was closed before.
func (h Handle) Wait(stop <-chan struct{}) bool {
	for {
		if !awaitAll(h.PIDs, stop) {
			return false
		}
		if waitEither(stop, nil, secondLook); len(h.PIDs()) == 0 {
			return true
		}
	}
}

// Stop asks the processes to end, kills them after the grace, and reports whether they
// are gone.
func (h Handle) Stop(grace time.Duration) bool {
	endAll(h.PIDs(), grace)
	for range maxHops {
		killAll(h.PIDs)
		if h.Instance == 0 || !(mark{h.Instance, h.Call}).chaseNewest(nil) {
			break
		}
	}
	return len(h.PIDs()) == 0
}

// parseQuit reads what lathe said to its supervisor: that it ends in order, and the
// calls that go on.
func parseQuit(said []byte) (orderly bool, spared []uint64) {
	for line := range bytes.Lines(said) {
		if bytes.Equal(line, quit) {
			orderly = true
		}
		word, whole := bytes.CutSuffix(line, []byte("\n"))
		if hex, ok := strings.CutPrefix(string(word), saySpare); ok && whole {
			if call, err := strconv.ParseUint(hex, 16, 64); err == nil && call != 0 {
				spared = append(spared, call)
			}
		}
	}
	return orderly, spared
}

// but lists the live processes of the instance, except those of some calls. What these
// start in the meantime is theirs, too: they are looked at last.
func (m mark) but(calls []uint64) []int {
	pids := m.tree(0)
	for _, call := range calls {
		theirs := mark{m.instance, call}.tree(0)
		pids = slices.DeleteFunc(pids, func(pid int) bool { return slices.Contains(theirs, pid) })
	}
	return pids
}

// KeptFile opens a descriptor that a keeper got, so that reads take no thread.
func KeptFile(fd int) (*os.File, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "kept"), nil
}
