package show

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"lathe/internal/cli/console"
	"lathe/internal/tui/look"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// colours is how a stream is coloured: with the roles of the screen's theme, in as many colours
// as the terminal has. The zero value colours nothing.
type colours struct{ theme *theme.Theme }

// coloursOf returns the colours of a stream that is a terminal or not, of the theme that was
// chosen. On a background that is not known only the terminal's own colours can be trusted.
func coloursOf(env *console.Env, tty bool, chosen func() *theme.Theme) colours {
	if console.NewStyle(tty, env.Getenv) == (console.Style{}) {
		return colours{}
	}
	dark, known := background(env.Getenv)
	if !known {
		return colours{theme.Terminal()}
	}
	few, profile := paint.Simple(env.Environ), colorprofile.Env(env.Environ)
	if few || profile < colorprofile.ANSI256 {
		system, _ := theme.Lookup("system")
		return colours{system.For(dark)}
	}
	t := theme.Default(dark)
	if chosen != nil {
		if own := chosen(); own != nil {
			t = own.Bare(dark)
		}
	}
	if profile == colorprofile.ANSI256 {
		t = t.Palette()
	}
	return colours{t}
}

// background says whether the terminal's background is dark, where the environment tells:
// LATHE_BACKGROUND is for people, COLORFGBG is set by several terminals.
func background(getenv func(string) string) (dark, known bool) {
	switch strings.ToLower(getenv("LATHE_BACKGROUND")) {
	case "dark":
		return true, true
	case "light":
		return false, true
	}
	of := getenv("COLORFGBG")
	n, err := strconv.Atoi(of[strings.LastIndexByte(of, ';')+1:])
	if err != nil || n < 0 || n > 15 {
		return false, false
	}
	return n != 7 && n < 9, true
}

// on reports whether there are colours at all.
func (c colours) on() bool { return c.theme != nil }

// look returns what the parts of the screen are drawn with.
func (c colours) look(width int) look.Look {
	return look.Look{Theme: c.theme, Width: width, Method: styled.WcWidth, Stacked: true}
}

// style returns the colours of single words.
func (c colours) style() console.Style {
	if !c.on() {
		return console.Style{}
	}
	code := func(k theme.Key) string { return string(c.theme.FG(k)) }
	return console.RoleStyle(console.Roles{
		Error: code(theme.Error), Success: code(theme.Success), Warning: code(theme.Warning), Info: code(theme.Info), Muted: code(theme.Muted),
	})
}
