package vim

import (
	"strings"

	"lathe/internal/tui/edit"
)

// carry carries out a command, and reports whether it is a change that can be repeated.
func (v *Vim) carry(e *edit.Editor, c command, room Room) (changed bool) {
	switch {
	case v.mode == Visual:
		return v.selected(e, c, room)
	case c.operator != "":
		return v.operate(e, c)
	case undoes[c.name] != "":
		for range c.times() {
			e.Do(undoes[c.name])
		}
		return false
	case c.name == "j" || c.name == "k":
		vertical(e, c, room)
		return false
	}
	if short := shorts[c.name]; short.operator != "" {
		return v.operate(e, command{count: c.count, operator: short.operator, name: short.name})
	}
	if v.begins(e, c) {
		return true
	}
	switch c.name {
	case "p", "P":
		v.paste(e, c)
		return true
	case "r":
		return v.replace(e, c)
	case "v":
		v.mode, v.anchor = Visual, e.Caret()
		e.Select(v.anchor, e.AfterAt(v.anchor))
		return false
	case "~", "J":
		return v.other(e, c)
	}
	if s, ok := motion(e, c); ok && s.from < 0 {
		e.MoveTo(s.to)
	}
	return false
}

// shorts are names for an operator with its motion.
var shorts = map[string]command{
	"x": {operator: "d", name: "l"}, "X": {operator: "d", name: "h"}, "D": {operator: "d", name: "$"},
	"C": {operator: "c", name: "$"}, "s": {operator: "c", name: "l"}, "S": {operator: "c", name: "c"}, "Y": {operator: "y", name: "y"},
}

// begins begins to write, if the command does that.
func (v *Vim) begins(e *edit.Editor, c command) bool {
	switch c.name {
	case "i":
	case "a":
		if e.Caret() < e.LineEnd() {
			e.MoveTo(e.AfterAt(e.Caret()))
		}
	case "I":
		e.MoveTo(firstWord(e.Text(), e.LineStart()))
	case "A":
		e.MoveTo(e.LineEnd())
	case "o":
		e.MoveTo(e.LineEnd())
		e.Put("\n")
	case "O":
		start := e.LineStart()
		e.MoveTo(start)
		e.Put("\n")
		e.MoveTo(start)
	default:
		return false
	}
	v.write(e)
	return true
}

// operate deletes, changes or takes what a motion covers.
func (v *Vim) operate(e *edit.Editor, c command) bool {
	if c.name == c.operator { // dd, cc, yy
		c.name = "j"
		c.count = c.times() - 1
		if c.count == 0 {
			return v.onLines(e, c.operator, e.Caret(), e.Caret())
		}
	}
	if c.operator == "c" && (c.name == "w" || c.name == "W") && e.Caret() < e.LineEnd() && e.Text()[e.Caret()] != ' ' {
		c.name = map[string]string{"w": "e", "W": "E"}[c.name] // blanks after the word stay
		if r, n := runeAt(e.Text(), e.Caret()); c.times() == 1 {
			if at := e.Caret() + n; at >= len(e.Text()) || !sameWord(e.Text(), at, r, c.name == "E") {
				c.name = "l"
			}
		}
	}
	s, ok := motion(e, c)
	if !ok {
		return false
	}
	if s.lines {
		return v.onLines(e, c.operator, min(e.Caret(), s.to), max(e.Caret(), s.to))
	}
	from, to := e.Caret(), s.to
	if s.from >= 0 {
		from = s.from
	}
	if s.whole && to >= from && to < len(e.Text()) {
		to = e.AfterAt(to)
	}
	if c.name == "w" || c.name == "W" { // the last word of a line does not take the next one along
		if end := e.LineEnd(); to > end && from < end {
			to = end
		}
	}
	return v.on(e, c.operator, min(from, to), max(from, to))
}

func sameWord(text string, at int, r rune, big bool) bool {
	next, _ := runeAt(text, at)
	return class(next, big) == class(r, big)
}

// on deletes, changes or takes a stretch of the text.
func (v *Vim) on(e *edit.Editor, operator string, from, to int) bool {
	from, to = e.Whole(from, to)
	v.register, v.lines = e.Text()[from:to], false
	if operator == "y" {
		e.MoveTo(from)
		return false
	}
	e.Cut(from, to)
	if operator == "c" {
		v.write(e)
	}
	return true
}

// onLines does so with whole lines.
func (v *Vim) onLines(e *edit.Editor, operator string, a, b int) bool {
	text := e.Text()
	from, to := e.Whole(startOfLine(text, a), endOfLine(text, b))
	v.register, v.lines = text[from:to], true
	switch operator {
	case "y":
		if a < e.Caret() {
			e.MoveTo(from)
		}
		return false
	case "c":
		e.Cut(from, to)
		v.write(e)
		return true
	}
	switch {
	case to < len(text):
		to++
	case from > 0:
		from--
	}
	e.Cut(from, to)
	e.MoveTo(firstWord(e.Text(), e.LineStart()))
	return true
}

// paste puts the register behind the caret, or before it for P.
func (v *Vim) paste(e *edit.Editor, c command) {
	text := strings.Repeat(v.register, c.times())
	switch {
	case v.lines && c.name == "p":
		text = strings.Repeat("\n"+v.register, c.times())
		start := e.LineEnd() + 1
		e.MoveTo(e.LineEnd())
		e.Put(text)
		e.MoveTo(firstWord(e.Text(), start))
	case v.lines:
		start := e.LineStart()
		e.MoveTo(start)
		e.Put(strings.Repeat(v.register+"\n", c.times()))
		e.MoveTo(firstWord(e.Text(), start))
	default:
		if c.name == "p" && e.Caret() < e.LineEnd() {
			e.MoveTo(e.AfterAt(e.Caret()))
		}
		e.Put(text)
		if text != "" {
			e.MoveTo(e.Aligned(e.Caret() - 1))
		}
	}
}

// replace puts a character in the place of those after the caret.
func (v *Vim) replace(e *edit.Editor, c command) bool {
	from := e.Caret()
	to := from
	for range c.times() {
		if to >= e.LineEnd() {
			return false
		}
		to = e.AfterAt(to)
	}
	from, to = e.Whole(from, to)
	e.Cut(from, to)
	e.Put(strings.Repeat(c.char, c.times()))
	e.MoveTo(e.Aligned(e.Caret() - 1))
	return true
}

// other changes the case of characters, or joins lines.
func (v *Vim) other(e *edit.Editor, c command) bool {
	if c.name == "J" {
		end := e.LineEnd()
		if end == len(e.Text()) {
			return false
		}
		e.Cut(end, firstWord(e.Text(), end+1))
		e.MoveTo(end)
		e.Put(" ")
		e.MoveTo(end)
		return true
	}
	from := e.Caret()
	to := from
	for range c.times() {
		if to < e.LineEnd() {
			to = e.AfterAt(to)
		}
	}
	was := e.Text()[from:to]
	now := strings.Map(func(r rune) rune {
		if s := string(r); strings.ToUpper(s) != s {
			return []rune(strings.ToUpper(s))[0]
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, was)
	if a, b := e.Whole(from, to); a != from || b != to || now == was {
		e.MoveTo(to)
		return false
	}
	e.Cut(from, to)
	e.Put(now)
	return true
}

// ofSelection are the operators of keys in a selection.
var ofSelection = map[string]string{"d": "d", "x": "d", "c": "c", "s": "c", "y": "y"}

// selected moves the end of the selection, or does something with it.
func (v *Vim) selected(e *edit.Editor, c command, room Room) bool {
	from, to, ok := e.Selection()
	if !ok {
		from, to = e.Caret(), e.Caret()
	}
	switch c.name {
	case "d", "x", "c", "s", "y":
		v.mode = Normal
		e.Unselect()
		v.on(e, ofSelection[c.name], from, to)
		return false
	case "v":
		v.mode = Normal
		e.Unselect()
		e.MoveTo(v.anchor)
		return false
	case "j", "k":
		e.MoveTo(v.head(e))
		vertical(e, c, room)
		v.show(e, e.Caret())
		return false
	}
	e.MoveTo(v.head(e))
	s, ok := motion(e, c)
	if !ok {
		s.to = e.Caret()
	}
	if ok && s.from >= 0 {
		v.anchor, s.to = s.from, e.Aligned(max(s.to-1, s.from))
	}
	v.show(e, s.to)
	return false
}

// head returns where the moving end of the selection stands: the character that it includes.
func (v *Vim) head(e *edit.Editor) int {
	from, to, ok := e.Selection()
	switch {
	case !ok:
		return e.Caret()
	case from < v.anchor:
		return from
	}
	return e.Aligned(max(to-1, from))
}

// show selects from where the selection began to a character, both included.
func (v *Vim) show(e *edit.Editor, head int) {
	if head < v.anchor {
		e.Select(e.AfterAt(v.anchor), head)
		return
	}
	e.Select(v.anchor, e.AfterAt(head))
}
