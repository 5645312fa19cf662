package theme

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/styled"
)

func TestParse(t *testing.T) {
	const file = `{"defs": {"sea": "#112233", "ink": {"dark": "#fff", "light": "sea"}},
		"theme": {"primary": "sea", "text": "ink", "background": "none", "accent": 5, "error": "primary", "border": 12, "unused": "#000000"}}`
	dark, err := Parse("mine", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []styled.Style{"38;2;17;34;51", "38;2;255;255;255", "", "35", "38;2;17;34;51", "94", "104"}
	got := []styled.Style{dark.FG(Primary), dark.FG(Text), dark.BG(Background), dark.FG(Accent), dark.FG(Error), dark.FG(Border), dark.BG(Border)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("styles (-want +got):\n%s", diff)
	}
	if light := dark.For(false); light.FG(Text) != "38;2;17;34;51" || !light.Light || dark.Light || dark.For(true) != dark {
		t.Errorf("light text: %q", light.FG(Text))
	}
	if one, err := Parse("one", []byte(`{"theme":{"text":"#222222"}}`)); err != nil || one.For(false) != one || !one.Light {
		t.Errorf("a theme of one form: %v", err)
	}
	for in, want := range map[string]string{
		`{`:                            "unexpected end",
		`{}`:                           `no "theme" object`,
		`{"theme":{"text":"sky"}}`:     `"sky" is neither`,
		`{"theme":{"text":"text"}}`:    "in a circle",
		`{"theme":{"text":300}}`:       "300",
		`{"theme":{"text":[1]}}`:       "not a colour",
		strings.Repeat(" ", maxFile+1): "larger than",
	} {
		if _, err := Parse("x", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", in, err, want)
		}
	}
}

// shown returns a colour as it looks.
func shown(c string) string {
	if n, err := strconv.Atoi(c); err == nil {
		return paletteColor(n)
	}
	return c
}

// roles are the further kinds of text, which take their colours from others: Markdown, the
// code in it and on panels, and the context of a change.
func roles() (out []pair) {
	for _, k := range []Key{Heading, Link, Code, Quote, Emph, Strong, ListItem, Comment, Keyword, Function, StringLit, Number, TypeName, Operator, Punctuation, DiffHunk} {
		out = append(out, pair{k, []Key{Background, Panel, Element}})
	}
	return out
}

// TestReadable computes the contrast of every kind of text on everything it stands
// on, in every theme, in full colour and in 256. What is the terminal's own colour
// is taken to be readable on the terminal's own background.
func TestReadable(t *testing.T) {
	for _, name := range Names() {
		full, _ := Lookup(name)
		for depth, th := range map[string]*Theme{"full colour": full, "256 colours": full.Palette()} {
			least := Least
			if strings.HasPrefix(name, "contrast") && depth == "full colour" {
				least = high
			}
			for _, p := range append(pairs(), roles()...) {
				for _, on := range p.on {
					bg := shown(th.backdrop(on))
					if name == "system" || name == "system-light" { // the terminal's palette, as xterm has it
						bg = map[bool]string{false: "#000000", true: "#ffffff"}[th.Light]
					}
					c := shown(th.color(p.text))
					if c == "" {
						continue
					}
					if got := contrast(c, bg); got < least {
						t.Errorf("%s in %s: %s (%s) on %s (%s) has contrast %.2f, less than %.1f", name, depth, p.text, c, on, bg, got, least)
					}
				}
			}
		}
	}
}

// TestRedStaysRed holds that what is deleted and what failed is red in 256 colours
// too, what is added green, in every theme that draws it so.
func TestRedStaysRed(t *testing.T) {
	for _, name := range Names() {
		full, _ := Lookup(name)
		few := full.Palette()
		for _, k := range []Key{Error, DiffRemoved, Success, DiffAdded} {
			before, after := full.color(k), shown(few.color(k))
			if before == "" || strings.HasPrefix(name, "system") {
				continue
			}
			if was, is := opponent(before), opponent(after); was.hue() > 12 && (is.hue() < 8 || was.turned(is) < 0.7) {
				t.Errorf("%s: %s is %s, and in 256 colours %s", name, k, before, after)
			}
		}
	}
	system, _ := Lookup("system")
	for th, want := range map[*Theme]styled.Style{system: "91", system.For(false): "31"} {
		if got := th.FG(DiffRemoved); got != want {
			t.Errorf("%s: what is deleted is drawn as %q", th.Name, got)
		}
	}
}

// TestPairs holds that a light form is light, and that OpenCode's names are known.
func TestPairs(t *testing.T) {
	for name, other := range lightOf {
		th, ok := Lookup(name)
		if !ok || th.Light {
			t.Errorf("%s: known %v, light %v", name, ok, th.Light)
			continue
		}
		if l := th.For(false); !l.Light || l.Name != th.Name {
			t.Errorf("%s on light is %s, light %v", name, other, l.Light)
		}
	}
	for _, name := range strings.Fields(`aura ayu carbonfox catppuccin catppuccin-frappe catppuccin-macchiato cobalt2 cursor dracula everforest
		flexoki github gruvbox kanagawa lucent-orng material matrix mercury monokai nightowl nord one-dark opencode orng osaka-jade
		palenight rosepine solarized synthwave84 tokyonight vercel vesper zenburn system`) {
		if _, ok := Lookup(name); !ok {
			t.Errorf("there is no theme %s", name)
		}
	}
	seen := map[string]bool{}
	for _, name := range Names() {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
}

func TestSystemKeepsToThePalette(t *testing.T) {
	th, _ := Lookup("system")
	for _, k := range append(paletteKeys[:], Heading, Code, Keyword, DiffAdded) {
		if strings.Contains(string(th.FG(k).With(th.BG(k))), ";2;") {
			t.Errorf("%s is not one of sixteen colours: %q", k, th.FG(k))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"defs":{"a":"#fff"},"theme":{"text":{"dark":"a","light":3}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		th, err := Parse("x", data)
		if err == nil {
			th.For(false).Base()
		}
	})
}
