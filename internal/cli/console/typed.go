package console

import (
	"bufio"
	"context"
	"strings"
	"time"
)

// Typed reads lines that a person types on the terminal. The zero value is ready.
type Typed struct {
	lines chan typedLine // nil until something is read
}

// typedLine is a line from the terminal, and when it was read.
type typedLine struct {
	text string
	at   time.Time
}

// Fresh returns the time from which typed lines count as answers: what was typed
// before a question could be read is not an answer to it.
func (e *Env) Fresh() time.Time {
	if e.Stdin != nil && e.StdinTTY {
		flushInput(e.Stdin)
	}
	return e.Now()
}

// ReadLine reads a line that was typed on the terminal after since, or reports
// false if the input ended or the run was stopped.
func (t *Typed) ReadLine(ctx context.Context, env *Env, since time.Time) (string, bool) {
	if t.lines == nil {
		t.lines = make(chan typedLine)
		go func() { // ends with the terminal's input, at the latest with the program
			defer close(t.lines)
			for sc := bufio.NewScanner(env.Stdin); sc.Scan(); {
				t.lines <- typedLine{sc.Text(), env.Now()}
			}
		}()
	}
	for {
		select {
		case line, ok := <-t.lines:
			if ok && line.at.Before(since) {
				continue
			}
			return strings.TrimSpace(line.text), ok
		case <-ctx.Done():
			return "", false
		}
	}
}
