package sandbox

import "runtime"

// Bounds on the number of processes of one box, threads included. Programs that make their
// number from that of the processors have room.
const (
	usualProcesses   = 4096
	processesOfAPart = 64  // for each processor
	fewestProcesses  = 320 // the kernel keeps the first 300 numbers to itself
)

// Most is how many processes a box may have.
func (l Limits) Most() int {
	if l.Processes > 0 {
		return max(l.Processes, fewestProcesses)
	}
	return max(usualProcesses, processesOfAPart*runtime.NumCPU())
}
