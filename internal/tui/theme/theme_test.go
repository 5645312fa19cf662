package theme

import (
	"math"
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

// luminance is the relative luminance of a colour as WCAG defines it.
func luminance(c string) float64 {
	r, g, b, _ := rgb(c)
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// TestReadable holds that text can be read on every background it stands on.
func TestReadable(t *testing.T) {
	for _, name := range Names() {
		th, _ := Lookup(name)
		bg := th.color(Background)
		if bg == "" {
			continue
		}
		least := map[Key]float64{Text: 4.4, Muted: 2.7, Primary: 2.4, Error: 2.4, Warning: 2.4, Success: 2.4}
		if strings.HasPrefix(name, "contrast") {
			least = map[Key]float64{Text: 15, Muted: 7, Primary: 7, Error: 7, Warning: 7, Success: 7, Accent: 7, Info: 7}
		}
		for key, want := range least {
			if got := contrast(th.color(key), bg); got < want {
				t.Errorf("%s: %s on the background has contrast %.1f, less than %.1f", name, key, got, want)
			}
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
