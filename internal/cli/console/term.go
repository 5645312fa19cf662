package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe/internal/opencode/wire"
	"lathe/internal/printable"
)

// Style colours text for a terminal, or leaves it alone.
type Style struct {
	on    bool
	roles Roles
}

// Roles are the codes of colours by what they mean. An empty one is the terminal's own text.
type Roles struct{ Error, Success, Warning, Info, Muted string }

// NewStyle is on for terminals, unless NO_COLOR or TERM=dumb say otherwise. It has the
// terminal's own colours.
func NewStyle(tty bool, getenv func(string) string) Style {
	if !tty || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return Style{}
	}
	return RoleStyle(Roles{Error: "31", Success: "32", Warning: "33", Info: "34"})
}

// RoleStyle returns a style with colours of its own. Without one for what is muted, that is faint.
func RoleStyle(r Roles) Style {
	if r.Muted == "" {
		r.Muted = "2"
	}
	return Style{on: true, roles: r}
}

func (s Style) paint(code, text string) string {
	if !s.on || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) Bold(t string) string   { return s.paint("1", t) }
func (s Style) Dim(t string) string    { return s.paint(s.roles.Muted, t) }
func (s Style) Red(t string) string    { return s.paint(s.roles.Error, t) }
func (s Style) Green(t string) string  { return s.paint(s.roles.Success, t) }
func (s Style) Yellow(t string) string { return s.paint(s.roles.Warning, t) }
func (s Style) Blue(t string) string   { return s.paint(s.roles.Info, t) }

// Clean makes text from models, tools and files safe for a terminal. New lines
// and tabs stay.
func Clean(text string) string { return printable.Text(text, printable.Options{}) }

// OneLine returns text as a single line of at most max characters.
func OneLine(text string, max int) string {
	text = printable.Line(text)
	runes := []rune(text)
	if max > 1 && len(runes) > max {
		return string(runes[:max-1]) + "…"
	}
	return text
}

// Count returns a number with k or M where it is long.
func Count(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// CleanLines makes text safe for a terminal and keeps its lines.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return strings.Join(lines, "\n")
}

// PrintJSON prints a value indented, with control characters escaped.
func PrintJSON(env *Env, v any) error {
	raw, err := wire.Marshal(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, printable.JSON(raw), "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Stdout, out.String())
	return err
}

// PortList returns ports as words.
func PortList(ports []int) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		words[i] = ":" + strconv.Itoa(p)
	}
	return strings.Join(words, " ")
}

// Millis returns milliseconds as a duration, rounded for people.
func Millis(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(10 * time.Microsecond)
}
