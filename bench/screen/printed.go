//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// printed measures what a command costs that prints much, in colours and without, each in a
// screen of its own. What the command itself takes is in none of the figures.
func printed(p place, m *model) error {
	m.set(1, 0, false)
	for _, lines := range []int{5_000, 50_000} {
		for _, coloured := range []bool{false, true} {
			if err := p.print(lines, coloured); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p place) print(lines int, coloured bool) error {
	name, how := fmt.Sprintf("%d.txt", lines), "plain"
	if coloured {
		name, how = "coloured-"+name, "in colours"
	}
	if err := os.WriteFile(filepath.Join(p.work, name), []byte(output(lines, coloured)), 0o600); err != nil {
		return err
	}
	s, err := p.show()
	if err != nil {
		return err
	}
	if err := s.wait("ask anything"); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // for what begins after the first frame
	begun, used, sent, before := time.Now(), s.cpu(), s.mark(), s.memory()
	// Over three seconds or more, so that the card is drawn while it grows.
	s.term.WriteString(fmt.Sprintf(`!awk 'NR%%%d==0{fflush();system("sleep 0.03")}1' %s`, lines/100, name))
	time.Sleep(500 * time.Millisecond) // letters that come at once may be a paste
	s.term.WriteString("\r")
	if err := s.wait("all is printed"); err != nil {
		return err
	}
	took := time.Since(begun)
	time.Sleep(2 * time.Second)
	fmt.Printf("%6d lines, %-10s        %v, %v of CPU, %d kB to the terminal, %d MB more\n", lines, how, took.Round(10*time.Millisecond), s.cpu()-used, (s.mark()-sent)/1000, s.memory()-before)
	used = s.cpu()
	s.term.WriteString("\x18d") // the whole of it, and back
	time.Sleep(time.Second)
	s.term.WriteString("\x18d")
	time.Sleep(time.Second)
	fmt.Printf("       unfolded and folded   %v of CPU\n", s.cpu()-used)
	return s.leave()
}

// output is what a test run prints.
func output(lines int, coloured bool) string {
	green, bold, orange, off := "", "", "", ""
	if coloured {
		green, bold, orange, off = "\x1b[32m", "\x1b[1;34m", "\x1b[38;5;208m", "\x1b[0m"
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%sok%s   %sexample.org/package/%05d%s  %s0.%03ds%s  and some more words 漢字\n", green, off, bold, i, off, orange, i%1000, off)
	}
	return b.String() + "all is printed\n"
}
