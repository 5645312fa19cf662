// Command context plays long scripted sessions through real compactions whose
// summaries say nothing, or next to nothing, and reports which planted facts are
// still in the next request or one recall away.
//
//	go run ./bench/context [-steps 240] [-window 40000] [-messages 10000]
//
// Everything is real but the model: sessions, store, tools, files, compaction.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	steps := flag.Int("steps", 240, "steps of a session")
	window := flag.Int("window", 40_000, "tokens of the model's window")
	messages := flag.Int("messages", 10_000, "messages of the session whose step cost is compared with a new one's; 0: none")
	flag.Parse()
	if *messages > 0 {
		if err := stepCost(context.Background(), *messages); err != nil {
			fmt.Fprintln(os.Stderr, "context:", err)
			os.Exit(1)
		}
	}
	if err := run(context.Background(), *steps, *window); err != nil {
		fmt.Fprintln(os.Stderr, "context:", err)
		os.Exit(1)
	}
}

// summaries are what the model answers when it is asked for one.
var summaries = []struct{ name, text string }{
	{"empty", ""},
	{"poor", "Some files were read and changed, a few commands were run, and the work goes on as the user asked before."},
}

func run(ctx context.Context, steps, window int) error {
	var errs []error
	for _, s := range summaries {
		start := time.Now()
		r, err := Play(ctx, Options{Steps: steps, Window: window, Summary: s.text})
		if err != nil {
			return fmt.Errorf("session with %s summaries: %w", s.name, err)
		}
		r.print(s.name, time.Since(start))
		errs = append(errs, r.check())
	}
	return errors.Join(errs...)
}

func (r *Report) print(name string, took time.Duration) {
	fmt.Printf("%s summaries: %d steps, %d compactions, %d prunes, %.1f s\n", name, r.Steps, r.Compactions, r.Prunes, took.Seconds())
	fmt.Printf("  %-12s %8s %11s %8s %6s\n", "facts", "planted", "in request", "recalled", "lost")
	for _, c := range classes {
		n := r.Classes[c]
		fmt.Printf("  %-12s %8d %11d %8d %6d\n", c, n.Planted, n.Present, n.Recalled, n.lost())
	}
	fmt.Printf("  %d ledger tokens, %d tokens in the next request, %d finished tasks back as open\n", r.Ledger, r.Request, r.Resurfaced)
	if len(r.Lost) > 0 {
		fmt.Printf("  lost: %s\n", strings.Join(r.Lost, "; "))
	}
	fmt.Println()
}

// check holds the bounds: 99 % of the facts, 3,000 tokens, no finished task.
func (r *Report) check() error {
	planted, lost := 0, 0
	for _, n := range r.Classes {
		planted, lost = planted+n.Planted, lost+n.lost()
	}
	switch {
	case r.Compactions == 0:
		return errors.New("the session was never compacted; make the window smaller")
	case lost*100 > planted:
		return fmt.Errorf("%d of %d facts are lost", lost, planted)
	case r.Ledger > 3000:
		return fmt.Errorf("the ledger takes %d tokens", r.Ledger)
	case r.Resurfaced > 0:
		return fmt.Errorf("%d finished tasks are open again", r.Resurfaced)
	}
	return nil
}
