//go:build !linux

package shell

import "time"

func (p *process) waitIdly() { p.wait() }

// remains cannot be found out here: whatever outlives the shell is ended with it.
func (p *process) remains() (live, nothing bool) { return false, false }

func (p *process) awaitRest(<-chan struct{}) {}

func (p *process) terminateWithin(grace time.Duration) { p.terminate(grace) }

// alive lists the shell alone.
func (p *process) alive() []int {
	if leader := p.leader(); leader != 0 {
		return []int{leader}
	}
	return nil
}

func (r *Runner) collectMeanwhile() {}

func listening([]int) []int { return nil }

func processName(int) string { return "" }
