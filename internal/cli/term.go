package cli

import "lathe/internal/printable"

// style colours text for a terminal, or leaves it alone.
type style struct{ on bool }

// newStyle is on for terminals, unless NO_COLOR or TERM=dumb say otherwise.
func newStyle(tty bool, getenv func(string) string) style {
	return style{on: tty && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) blue(t string) string   { return s.paint("34", t) }

// clean makes text from models, tools and files safe for a terminal. New lines
// and tabs stay.
func clean(text string) string { return printable.Text(text, printable.Options{}) }

// oneLine returns text as a single line of at most max characters.
func oneLine(text string, max int) string {
	text = printable.Line(text)
	runes := []rune(text)
	if max > 1 && len(runes) > max {
		return string(runes[:max-1]) + "…"
	}
	return text
}
