package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// diskRound fills the disk under a server at work. What was acknowledged stays,
// nothing hangs, and when there is room again it goes on by itself.
func diskRound(r *rig) error {
	if r.srv == nil {
		if !r.mountSmall("24m") {
			r.count("rounds without a file system of their own", 1)
			return nil
		}
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.people(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	var wg sync.WaitGroup
	for _, u := range r.users {
		wg.Go(func() {
			for ctx.Err() == nil {
				limit, done := context.WithTimeout(r.ctx, patience)
				status, _ := u.ask(limit, u.newPlan(1+u.random.IntN(2)))
				if limit.Err() != nil && r.ctx.Err() == nil {
					r.wrong("hangs", "a prompt on a full disk is not answered within %s", patience)
				}
				if status == 500 {
					r.wrong("disk full", "a prompt on a full disk answers 500")
				}
				done()
			}
		})
	}
	pause(r.ctx, time.Duration(50+r.random.IntN(200))*time.Millisecond)
	filler := filepath.Join(r.home, "filler")
	fill(filler)
	pause(r.ctx, time.Duration(200+r.random.IntN(500))*time.Millisecond)
	if err := os.Remove(filler); err != nil {
		return err
	}
	pause(r.ctx, time.Duration(r.random.IntN(300))*time.Millisecond)
	cancel()
	wg.Wait()
	for _, u := range r.users {
		if status, m := u.ask(r.ctx, u.newPlan(0)); status != 200 || m.Info.Error != nil {
			r.wrong("disk full", "when there is room again a prompt answers %d, error %v", status, m.Info.Error)
		}
	}
	r.count("full disks", 1)
	r.stop()
	r.healthy()
	if err := r.start(); err != nil {
		return err
	}
	r.verify()
	// There is no end of room to fill.
	r.stop()
	for _, u := range r.users {
		u.session = ""
	}
	r.unmount()
	r.told = newTold()
	return nil
}

// fill takes all the room that there is.
func fill(path string) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// faultRound lets the file layer of a server fail from some moment on, for good.
// The next one has everything that was told.
func faultRound(r *rig) error {
	if r.opts.lathe != "" {
		r.count("rounds without faults: they need this program's own lathe", 1)
		return nil
	}
	r.stop()
	fault := fmt.Sprintf("%d %dms", []int{28, 5}[r.random.IntN(2)], 100+r.random.IntN(700))
	if err := r.start(faultEnv + "=" + fault); err != nil {
		return r.start() // it struck before the server stood
	}
	if err := r.people(); err != nil { // a session may not be made any more
		r.kill()
		return r.start()
	}
	limit, cancel := context.WithTimeout(r.ctx, 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for _, u := range r.users {
		wg.Go(func() { u.work(limit) })
	}
	wg.Wait()
	r.kill()
	r.count("broken file layers", 1)
	if err := r.start(); err != nil {
		return err
	}
	r.verify()
	if r.done%5 == 0 {
		r.healthy()
	}
	return nil
}

// injureRound injures what is stored. Sessions open as far as they can be read,
// doctor tells of every injury that shows, and the repair leaves a sound store.
func injureRound(r *rig) error {
	if r.srv == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if err := r.people(); err != nil {
		return err
	}
	for _, u := range r.users {
		u.ask(r.ctx, u.newPlan(3))
		long := u.newPlan(1)
		long.Steps[0] = step{Text: wordsOf(long.Tag, 150_000)}
		u.ask(r.ctx, long)
	}
	before := r.texts()
	r.stop()
	kept := r.home + ".kept"
	if out, err := exec.Command("cp", "-a", r.home, kept).CombinedOutput(); err != nil {
		return fmt.Errorf("copy: %w: %s", err, out)
	}
	defer os.RemoveAll(kept)
	what, err := r.injure()
	if err != nil {
		return err
	}
	r.count("injuries", 1)
	doctor := r.command("doctor").Run()
	err = r.start()
	shows := err != nil
	if err == nil {
		for key, text := range r.texts() {
			if text == "" && before[key] != "" && !strings.Contains(what, "page") && !strings.Contains(what, "gone") {
				r.wrong("injured", "%s: session %s cannot be read", what, key)
			}
			shows = shows || text != before[key]
		}
		r.stop()
	}
	if shows && doctor == nil && !strings.HasPrefix(what, "flipped bit") {
		r.wrong("injured", "%s: doctor finds nothing", what)
	}
	if r.opts.lathe == "" || r.repairs() {
		out, err := r.command("db", "check", "--repair").CombinedOutput()
		if err != nil && !bytes.Contains(out, []byte("older than the database")) {
			r.wrong("injured", "%s: the repair: %v: %s", what, err, out)
		}
		if err := r.start(); err != nil {
			r.wrong("injured", "%s: after the repair: %v", what, err)
		} else {
			for key, text := range r.texts() {
				if text == "" && before[key] != "" && !strings.Contains(what, "gone") {
					r.wrong("injured", "%s: session %s cannot be read after the repair", what, key)
				}
			}
			r.stop()
		}
	}
	r.told = newTold()
	return errors.Join(os.RemoveAll(r.home), os.Rename(kept, r.home), r.start())
}

// repairs reports whether the program under test can repair.
func (r *rig) repairs() bool {
	out, _ := r.command("db", "check", "--help").CombinedOutput()
	return bytes.Contains(out, []byte("--repair"))
}

// texts returns what every user reads in the own session; empty where nothing can be.
func (r *rig) texts() map[string]string {
	out := map[string]string{}
	for _, u := range r.users {
		list, status := u.messages(r.ctx, u.session)
		if out[u.session] = ""; status != 200 {
			continue
		}
		for _, m := range list {
			for _, p := range m.Parts {
				out[u.session] += p.Text + p.State.Output + "\n"
			}
		}
	}
	return out
}

// injure damages something by chance and says what.
func (r *rig) injure() (string, error) {
	data := filepath.Join(r.home, "data")
	db := filepath.Join(data, "lathe.db")
	blobs, err := filepath.Glob(filepath.Join(data, "blob", "*", "*.gz"))
	if err != nil || len(blobs) == 0 {
		return "", fmt.Errorf("there are no blobs: %w", err)
	}
	blob := blobs[r.random.IntN(len(blobs))]
	switch r.random.IntN(7) {
	case 0:
		return "flipped blob", change(blob, r.random, func(b []byte) []byte { b[20+r.random.IntN(len(b)-20)] ^= 0x55; return b })
	case 1:
		return "deleted blob", os.Remove(blob)
	case 2:
		return "cut blob", change(blob, r.random, func(b []byte) []byte { return b[:r.random.IntN(len(b))] })
	case 3:
		return "page of noise", change(db, r.random, func(b []byte) []byte {
			at := (1 + r.random.IntN(len(b)/4096-1)) * 4096
			for i := at; i < at+4096; i++ {
				b[i] = byte(r.random.Uint32())
			}
			return b
		})
	case 4:
		return "flipped bit of a page", change(db, r.random, func(b []byte) []byte { b[4096+r.random.IntN(len(b)-4096)] ^= 1 << r.random.IntN(8); return b })
	case 5:
		return "database that is gone", removeDB(db, blobs)
	default:
		return "first page that is zero", change(db, r.random, func(b []byte) []byte { clear(b[:4096]); return b })
	}
}

// removeDB lets a database be gone, whose files are older than what follows.
func removeDB(db string, blobs []string) error {
	old := time.Now().Add(-time.Hour)
	var errs []error
	for _, b := range blobs {
		errs = append(errs, os.Chtimes(b, old, old))
	}
	return errors.Join(append(errs, os.Remove(db))...)
}

func change(path string, _ *rand.Rand, fn func([]byte) []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, fn(slices.Clone(data)), 0o600)
}
