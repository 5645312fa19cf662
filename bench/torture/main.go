// Command torture looks for what a server loses, doubles or leaves unanswered. It
// starts lathe serve in a process of its own, with a scripted provider, and lets
// clients work while it is killed at random moments and at events, while the disk
// is full or broken, while what is stored is injured, and while the provider
// misbehaves. Everything that clients were told, by answers and by events, is
// compared with what is stored afterwards.
//
//	go run ./bench/torture -rounds 1000
//	go run ./bench/torture -rounds 1 -seed 4711 -what kill   # one round again
//	go run ./bench/torture -what soak -for 1h
//
// The seed of a round is printed with each violation: it fixes what is done and
// when the server is killed, though not how threads take turns.
//
// A round (rounds.go) sets up a rig (rig.go): the server (child.go), its provider
// (model.go, hostile.go) and clients (user.go), with faults of the disk
// (fault_linux.go) and of what is stored (trouble.go). told.go compares, report.go
// prints, and soak.go runs a server for hours.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	lathe  string // program under test; empty: this program is one
	rounds int
	seed   uint64
	what   string
	soak   time.Duration
	out    io.Writer
}

// parts are what can be done, in the order in which it is. Rounds of the others
// than kill are much longer, so there are fewer of them.
var parts = []struct {
	name  string
	share int // a round of it for so many rounds
	run   func(*rig) error
}{
	{"kill", 1, killRound},
	{"race", 10, raceRound},
	{"disk", 25, diskRound},
	{"fault", 10, faultRound},
	{"injure", 25, injureRound},
	{"hostile", 100, hostileRound},
}

func main() {
	if asLathe() {
		return
	}
	o := options{out: os.Stdout}
	flag.StringVar(&o.lathe, "lathe", "", "program to torture; this one, with the code it was built with, if empty")
	flag.IntVar(&o.rounds, "rounds", 100, "rounds with a kill; the other kinds come in proportion")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the first round; 0: a random one")
	flag.StringVar(&o.what, "what", "kill,race,disk,fault,injure,hostile", "kinds of rounds, or soak")
	flag.DurationVar(&o.soak, "for", time.Hour, "length of the soak")
	flag.Parse()
	if o.lathe != "" {
		var err error
		if o.lathe, err = filepath.Abs(o.lathe); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(2)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := torture(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// torture runs the rounds. The error says how many facts were violated, or what
// kept it from looking.
func torture(ctx context.Context, o options) error {
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 32
	}
	if o.what == "soak" {
		return soak(ctx, o)
	}
	report := &report{out: o.out, began: time.Now()}
	for _, p := range parts {
		if !strings.Contains(","+o.what+",", ","+p.name+",") {
			continue
		}
		r, err := newRig(ctx, o, report)
		if err != nil {
			return err
		}
		n := max(o.rounds/p.share, 1)
		for i := range n {
			r.begin(p.name, o.seed+uint64(i))
			err = p.run(r)
			report.rounds++
			if err != nil || ctx.Err() != nil {
				break
			}
			report.progress(p.name, i+1, n)
		}
		err = errors.Join(err, r.close())
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", p.name, r.seed, err)
		}
	}
	report.print()
	if report.violations > 0 {
		return fmt.Errorf("%d violations", report.violations)
	}
	return context.Cause(ctx)
}
