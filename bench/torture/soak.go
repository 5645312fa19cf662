package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	soakUsers = 8
	// soakCompact is after how many turns a user lets the session be compacted, so
	// that none grows without end.
	soakCompact = 25
	soakPause   = 300 * time.Millisecond // a low load: what grows does so by turns, not by time
	soakTell    = 12                     // figures that are printed in all
	soakFresh   = 20                     // turns on a new server that the soaked one is compared with
)

// soak lets users work for a long time and prints what the server takes.
func soak(ctx context.Context, o options) error {
	rep := &report{out: o.out, began: time.Now()}
	r, err := newRig(ctx, o, rep)
	if err != nil {
		return err
	}
	r.begin("soak", o.seed)
	if err := r.start(); err != nil {
		return err
	}
	work, cancel := context.WithTimeout(ctx, o.soak)
	defer cancel()
	var turns atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for n := range soakUsers {
		dir, err := r.project(fmt.Sprintf("project%d", n))
		if err != nil {
			return err
		}
		u := &user{r: r, n: n, dir: dir, random: rand.New(rand.NewPCG(o.seed, uint64(n)))}
		r.users = append(r.users, u)
		if err := u.create(ctx); err != nil {
			return err
		}
		wg.Go(func() {
			for ; work.Err() == nil; u.age++ {
				began := time.Now()
				if status, m := u.ask(ctx, u.newPlan(2)); status != 200 || m.Info.Error != nil {
					r.wrong("soak", "a prompt answers %d, error %v", status, m.Info.Error)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
				if turns.Add(1); u.age%soakCompact == 0 {
					u.summarize(ctx)
				}
				pause(work, soakPause)
			}
		})
	}
	since := func() time.Duration { // the middle of the turns since the last call
		mu.Lock()
		defer mu.Unlock()
		d := median(took)
		took = nil
		return d
	}
	var before struct {
		turns int64
		cpu   time.Duration
	}
	tell := func() {
		middle := since()
		n, cpu := turns.Load(), r.cpu()
		each := (cpu - before.cpu) / time.Duration(max(n-before.turns, 1))
		before.turns, before.cpu = n, cpu
		fresh, err := freshTurn(ctx, o, rep)
		if err != nil {
			r.wrong("soak", "a new server beside it: %v", err)
		}
		beside := since()
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.srv.cmd.Process.Pid))
		files, bytes := 0, int64(0)
		_ = filepath.WalkDir(r.home, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files++
				if info, err := d.Info(); err == nil {
					bytes += info.Size()
				}
			}
			return nil
		})
		fmt.Fprintf(o.out, "%6s: %6d turns, memory %d MB (at most %d), %d descriptors, %d files of %d MB, a turn takes %s of CPU, %s in all; %s while one on a new server beside it takes %s\n",
			time.Since(rep.began).Round(time.Second), turns.Load(), r.memory("VmRSS")>>20, r.memory("VmHWM")>>20, len(fds), files, bytes>>20,
			each.Round(100*time.Microsecond), middle.Round(time.Millisecond), beside.Round(time.Millisecond), fresh.Round(time.Millisecond))
	}
	pause(work, o.soak/soakTell/10) // the first figures are of a server that has just begun
	tell()
	for work.Err() == nil {
		pause(work, max(o.soak/soakTell, time.Second))
		tell()
	}
	wg.Wait()
	r.verify()
	r.stop()
	r.healthy()
	rep.print()
	if err := r.close(); err != nil {
		return err
	}
	if rep.violations > 0 {
		return fmt.Errorf("%d violations", rep.violations)
	}
	return nil
}

// freshTurn is what a turn takes on a server that has just started, on the same
// machine in the same moment: what the soaked one is compared with.
func freshTurn(ctx context.Context, o options, rep *report) (time.Duration, error) {
	r, err := newRig(ctx, o, rep)
	if err != nil {
		return 0, err
	}
	r.begin("soak", o.seed)
	took, err := r.turns(ctx, soakFresh)
	return median(took), errors.Join(err, r.close())
}

// turns are as many turns of one user on a server that it starts.
func (r *rig) turns(ctx context.Context, n int) (took []time.Duration, err error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	dir, err := r.project("fresh")
	if err != nil {
		return nil, err
	}
	u := &user{r: r, dir: dir, random: rand.New(rand.NewPCG(r.seed, 0))}
	if err := u.create(ctx); err != nil {
		return nil, err
	}
	for range n {
		began := time.Now()
		if status, _ := u.ask(ctx, u.newPlan(2)); status != 200 {
			return nil, fmt.Errorf("a prompt answers %d", status)
		}
		took = append(took, time.Since(began))
		pause(ctx, soakPause)
	}
	return took, nil
}

func median(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}

// cpu is the processor time that the server took, in ticks of 10 ms.
func (r *rig) cpu() time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.srv.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}
