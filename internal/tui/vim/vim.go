// Package vim edits the input with the keys of vi: a mode for writing, one for commands and one
// for selecting; counts, operators with motions, one register, repetition.
//
// vim.go takes keys and knows the modes, motion.go finds where a motion leads, change.go
// changes the text.
package vim

import (
	"strconv"
	"unicode/utf8"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

// Mode is what keys do.
type Mode string

// The modes.
const (
	Insert Mode = "insert"
	Normal Mode = "normal"
	Visual Mode = "visual"
)

// mostCount bounds counts, so that a slip does not take long.
const mostCount = 9999

// Vim is the state of the keys. The zero value is off.
type Vim struct {
	On   bool
	mode Mode

	typed    []string // strokes of the command that is being written
	last     []string // strokes of the last change
	wrote    string   // what was written in it
	began    int      // where writing began, plus one; 0: the command does not write
	length   int      // of the text then
	register string
	lines    bool // the register has whole lines
	anchor   int  // where the selection began
}

// Room is where the text is laid out.
type Room struct {
	Width  int
	Method styled.Method
}

// Mode returns the mode; empty while vim is off.
func (v *Vim) Mode() Mode {
	switch {
	case !v.On:
		return ""
	case v.mode == "":
		return Insert
	}
	return v.mode
}

// Writes makes keys write, as in a new input.
func (v *Vim) Writes() {
	*v = Vim{On: v.On, last: v.last, wrote: v.wrote, register: v.register, lines: v.lines}
}

// Pending returns what was written of a command.
func (v *Vim) Pending() (out string) {
	for _, t := range v.typed {
		out += t
	}
	return out
}

// Key takes a keystroke, with the text it stands for; false means that it is not for vim.
func (v *Vim) Key(e *edit.Editor, stroke, text string, room Room) bool {
	switch v.Mode() {
	case "":
		return false
	case Insert:
		if stroke != "esc" && stroke != "ctrl+[" {
			return false
		}
		v.wrote = v.written(e)
		v.mode, v.began = Normal, 0
		if e.Caret() > e.LineStart() {
			e.Do(keys.Left)
		}
		return true
	}
	if stroke == "esc" || stroke == "ctrl+[" {
		return v.escape(e)
	}
	name := text
	switch stroke {
	case "left":
		name = "h"
	case "right":
		name = "l"
	case "up":
		name = "k"
	case "down":
		name = "j"
	case "home":
		name = "0"
	case "end":
		name = "$"
	case "backspace":
		name = "h"
	case "delete":
		name = "x"
	case "space":
		name = "l"
	case "ctrl+r":
		name = stroke
	}
	if name == "" || utf8.RuneCountInString(name) > 1 && name != "ctrl+r" {
		return false
	}
	return v.command(e, name, room)
}

// escape ends what was begun; false where nothing was.
func (v *Vim) escape(e *edit.Editor) bool {
	begun := v.mode == Visual || len(v.typed) > 0
	if v.mode == Visual {
		e.MoveTo(v.head(e))
	}
	v.mode, v.typed = Normal, nil
	return begun
}

// command adds a stroke to the command that is being written, and carries it out when it is
// whole.
func (v *Vim) command(e *edit.Editor, name string, room Room) bool {
	if e.Empty() && len(v.typed) == 0 {
		switch name {
		case "/", "!", "@": // of the input itself
			v.Writes()
			return false
		}
	}
	v.typed = append(v.typed, name)
	c, whole := parse(v.typed, v.mode == Visual)
	if !whole {
		return true
	}
	if (c.name == "j" || c.name == "k") && c.operator == "" && v.mode == Normal && !e.CanMove(map[string]int{"j": 1, "k": -1}[c.name], room.Width, room.Method) {
		v.typed = nil
		return false // goes through earlier prompts
	}
	strokes := v.typed
	v.typed = nil
	v.run(e, c, strokes, room)
	return true
}

// run carries a command out.
func (v *Vim) run(e *edit.Editor, c command, strokes []string, room Room) {
	if c.name == "." {
		if v.mode == Normal {
			v.again(e, room)
		}
		return
	}
	changed := v.carry(e, c, room)
	if changed {
		v.last, v.wrote = strokes, ""
	}
	if v.mode == Normal {
		v.settle(e)
	}
}

// again repeats the last change, with what was written in it.
func (v *Vim) again(e *edit.Editor, room Room) {
	if len(v.last) == 0 {
		return
	}
	last, wrote := v.last, v.wrote
	c, _ := parse(last, false)
	v.carry(e, c, room)
	if v.mode == Insert {
		e.Put(wrote)
		v.mode, v.began = Normal, 0
		if wrote != "" {
			e.Do(keys.Left)
		}
	}
	v.last, v.wrote = last, wrote
	v.settle(e)
}

// settle keeps the caret on a character, as it is between commands.
func (v *Vim) settle(e *edit.Editor) {
	if at := e.Caret(); at == e.LineEnd() && at > e.LineStart() {
		e.Do(keys.Left)
	}
}

// write begins to write.
func (v *Vim) write(e *edit.Editor) {
	v.mode, v.began, v.length = Insert, e.Caret()+1, len(e.Text())
}

// written returns what was written since, as far as it stands in one piece before the caret.
func (v *Vim) written(e *edit.Editor) string {
	from, at := v.began-1, e.Caret()
	if v.began == 0 || at < from || len(e.Text())-v.length != at-from {
		return ""
	}
	return e.Text()[from:at]
}

// command is a parsed command: a count, an operator and a motion, or a name alone.
type command struct {
	count    int // 0: none was written
	operator string
	name     string
	char     string // of r, f, F, t and T
}

// times is how often a command is done.
func (c command) times() int { return max(c.count, 1) }

// parse reads strokes; whole is false while more has to come.
func parse(strokes []string, visual bool) (c command, whole bool) {
	rest := strokes
	number := func() int {
		n := 0
		for len(rest) > 0 && len(rest[0]) == 1 && (rest[0] >= "1" && rest[0] <= "9" || n > 0 && rest[0] == "0") {
			d, _ := strconv.Atoi(rest[0])
			n, rest = min(n*10+d, mostCount), rest[1:]
		}
		return n
	}
	c.count = number()
	if len(rest) > 0 && !visual && (rest[0] == "d" || rest[0] == "c" || rest[0] == "y") {
		c.operator, rest = rest[0], rest[1:]
		if n := number(); n > 0 {
			c.count = min(c.times()*n, mostCount)
		}
	}
	if len(rest) == 0 {
		return c, false
	}
	c.name, rest = rest[0], rest[1:]
	switch c.name {
	case "g", "i", "a":
		if c.name != "g" && c.operator == "" && !visual {
			return c, true
		}
		if len(rest) == 0 {
			return c, false
		}
		c.name += rest[0]
	case "r", "f", "F", "t", "T":
		if len(rest) == 0 {
			return c, false
		}
		c.char = rest[0]
	}
	return c, true
}
