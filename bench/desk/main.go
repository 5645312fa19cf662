// Command desk measures how many steps a harness costs a model that errs. Its models are
// played: each makes one mistake that real ones make, reads what it is told, and goes on
// as a real one would until the work is done. What the mistake cost is the number of
// steps beyond those of the same model without it.
//
//	go run ./bench/desk -lathe PROGRAM [-opencode PROGRAM] [-run PATTERN] [-v]
//
// Everything is real but the model: the programs are those that a person starts, the
// provider listens on loopback, and repositories and homes are new for each play.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

func main() {
	lathe := flag.String("lathe", "", "the lathe program")
	opencode := flag.String("opencode", "", "an OpenCode program to compare it with")
	only := flag.String("run", "", "pattern of the scenarios to play; empty: all")
	verbose := flag.Bool("v", false, "print what the models said and were told")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *lathe, *opencode, *only, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		os.Exit(1)
	}
}

// latheEnv keeps lathe off the network.
var latheEnv = []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "LATHE_DISABLE_LOCAL_MODELS=1", "LATHE_RETRY_BASE=1ms"}

var opencodeEnv = []string{
	"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_SHARE=1", "DO_NOT_TRACK=1",
}

func run(ctx context.Context, lathe, opencode, only string, verbose bool) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var programs []*program
	if lathe != "" {
		programs = append(programs, &program{name: "lathe", path: lathe, env: latheEnv, strict: true, limit: time.Minute})
	}
	if opencode != "" {
		programs = append(programs, &program{name: "opencode", path: opencode, env: opencodeEnv, limit: 4 * time.Minute})
	}
	if programs == nil {
		return errors.New("name a program: -lathe, -opencode")
	}
	t := newTable(programs)
	for i := range scenarios {
		s := &scenarios[i]
		if !pattern.MatchString(s.class + ": " + s.name) {
			continue
		}
		var row []result
		for _, p := range programs {
			r := result{right: p.play(ctx, s, false), wrong: p.play(ctx, s, true)}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if row = append(row, r); verbose {
				fmt.Fprintf(os.Stderr, "== %s, %s: %s (%v)\n%s\n", p.name, s.class, s.name, r.missed(), strings.Join(append(append(r.right.log, "---"), r.wrong.log...), "\n"))
			}
		}
		t.add(s, row)
	}
	t.print(os.Stdout)
	return t.verdict()
}
