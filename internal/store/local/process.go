package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"lathe/internal/store"
)

// Process identifies a process even if its number is reused.
type Process struct {
	PID   int
	Start string // when it started, in the system's own terms; empty if unknown
	Boot  string // which boot of the machine; empty if unknown
	Host  string
}

// Self returns this process.
func Self() Process { return ProcessAt(os.Getpid()) }

// ProcessAt returns the process that has the number now.
func ProcessAt(pid int) Process {
	host, _ := os.Hostname()
	return Process{PID: pid, Start: processStart(pid), Boot: bootID(), Host: host}
}

// Owner returns the process as an owner of leases.
func (p Process) Owner() store.Owner {
	return store.Owner{
		ID:   strings.Join([]string{strconv.Itoa(p.PID), p.Start, p.Boot, p.Host}, " "),
		Name: fmt.Sprintf("process %d on %s", p.PID, p.Host),
	}
}

// ProcessOf returns the process that an owner stands for.
func ProcessOf(o store.Owner) (Process, error) {
	f := strings.SplitN(o.ID, " ", 4)
	if len(f) != 4 {
		return Process{}, fmt.Errorf("owner %q is not a process", o.ID)
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil {
		return Process{}, fmt.Errorf("owner %q is not a process: %w", o.ID, err)
	}
	return Process{PID: pid, Start: f[1], Boot: f[2], Host: f[3]}, nil
}

// Living reports whether the process may still run, as seen from self. A
// process on another host cannot be checked and counts as living.
func (p Process) Living(self Process) bool {
	if p.Host != self.Host {
		return true
	}
	if p.Boot != "" && self.Boot != "" && p.Boot != self.Boot {
		return false
	}
	if !processLives(p.PID) {
		return false
	}
	now := processStart(p.PID)
	return p.Start == "" || now == "" || p.Start == now
}
