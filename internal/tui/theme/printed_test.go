package theme

import (
	"strconv"
	"strings"
	"testing"

	"lathe/internal/printable"
	"lathe/internal/tui/styled"
)

// drawn reads a style as a terminal does: the colours of letters and of what is behind them.
func drawn(s styled.Style, text, background string) (fg, bg string) {
	fg, bg = text, background
	list := strings.Split(string(s), ";")
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i])
		to := &fg
		if n == 48 || n >= 40 && n < 48 || n >= 100 {
			to, n = &bg, n-10
		}
		switch {
		case n == 38 && list[i+1] == "5":
			p, _ := strconv.Atoi(list[i+2])
			*to, i = paletteColor(p), i+2
		case n == 38:
			var c [3]int
			for j := range c {
				c[j], _ = strconv.Atoi(list[i+2+j])
			}
			*to, i = hexOf(c), i+4
		case n >= 30 && n < 38:
			*to = paletteColor(n - 30)
		case n >= 90:
			*to = paletteColor(n - 82)
		case n == 7:
			fg, bg = bg, fg
		}
	}
	return fg, bg
}

func hexOf(c [3]int) string {
	out := "#"
	for _, v := range c {
		out += strconv.FormatInt(int64(v)+0x100, 16)[1:]
	}
	return out
}

// TestPrintedReadable computes the contrast of everything that programs print in colours, in every
// theme and depth, on the conversation's background and on that of sheets.
func TestPrintedReadable(t *testing.T) {
	asked := []printable.Colour{printable.RGB(33, 37, 43), printable.RGB(128, 128, 128), printable.RGB(200, 30, 90), printable.RGB(244, 244, 240)}
	for n := 0; n < 256; n += 1 + min(n/16, 1)*12 {
		asked = append(asked, printable.Indexed(n))
	}
	for _, name := range Names() {
		dark, _ := Lookup(name)
		for _, th := range []*Theme{dark, dark.For(false), dark.Palette(), dark.For(false).Palette()} {
			for _, c := range asked {
				for _, l := range []printable.Look{
					{FG: c}, {FG: c, Reverse: true}, {BG: c}, {BG: c, Reverse: true}, {FG: c, BG: c}, {FG: printable.Indexed(0), BG: c}, {FG: c, BG: printable.Indexed(11)},
				} {
					style := th.Printed(l)
					for _, on := range []Key{Background, Panel} {
						fg, bg := drawn(style, ownText(th), backgroundOf(th, on))
						if got := contrast(fg, bg); got < Least {
							t.Fatalf("%s (depth %d, light %v): %+v is drawn %q, %s on %s: contrast %.2f", name, th.depth, th.Light, l, style, fg, bg, got)
						}
					}
				}
			}
		}
	}
}

// ownText returns the colour of plain text: the terminal's own where the theme has none.
func ownText(t *Theme) string {
	if text := shown(t.color(Text)); text != "" {
		return text
	}
	return map[bool]string{false: "#ffffff", true: "#000000"}[t.Light]
}

// backgroundOf returns a background; of a theme that keeps to sixteen colours the terminal's own.
func backgroundOf(t *Theme, k Key) string {
	if t.depth == sixteen {
		return map[bool]string{false: "#000000", true: "#ffffff"}[t.Light]
	}
	return shown(t.backdrop(k))
}

// TestPrintedKeepsHue holds that a program's red stays red, and its green green, in every depth.
func TestPrintedKeepsHue(t *testing.T) {
	for _, name := range []string{"lathe", "nord", "github-light", "contrast"} {
		th, _ := Lookup(name)
		for _, th := range []*Theme{th, th.For(false), th.Palette()} {
			for c, like := range map[printable.Colour]string{printable.Indexed(1): "#ff0000", printable.Indexed(10): "#00ff00", printable.RGB(30, 60, 250): "#0000ff"} {
				got, _ := drawn(th.Printed(printable.Look{FG: c}), "", "")
				if is := opponent(got); is.hue() < 8 || is.turned(opponent(like)) < 0.5 {
					t.Errorf("%s in depth %d: %s is drawn as %s", name, th.depth, like, got)
				}
			}
		}
	}
	system, _ := Lookup("system")
	if got := system.Printed(printable.Look{FG: printable.RGB(250, 20, 20), Underline: true}); got != "91;4" {
		t.Errorf("red in sixteen colours is %q", got)
	}
	if got := system.Printed(printable.Look{FG: printable.Indexed(0), BG: printable.Indexed(2)}); got != "92;7" {
		t.Errorf("a badge in sixteen colours is %q", got)
	}
	if got := system.Printed(printable.Look{}); got != "" {
		t.Errorf("plain text is drawn as %q", got)
	}
}
