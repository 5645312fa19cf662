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
	dark, err := Parse("mine", []byte(file), true)
	if err != nil {
		t.Fatal(err)
	}
	want := []styled.Style{"38;2;17;34;51", "38;2;255;255;255", "", "35", "38;2;17;34;51", "94", "104"}
	got := []styled.Style{dark.FG(Primary), dark.FG(Text), dark.BG(Background), dark.FG(Accent), dark.FG(Error), dark.FG(Border), dark.BG(Border)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("styles (-want +got):\n%s", diff)
	}
	light, err := Parse("mine", []byte(file), false)
	if err != nil || light.FG(Text) != "38;2;17;34;51" {
		t.Errorf("light text: %q, %v", light.FG(Text), err)
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
		if _, err := Parse("x", []byte(in), true); err == nil || !strings.Contains(err.Error(), want) {
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
		th, err := Parse("x", data, true)
		if err == nil {
			th.Base()
		}
	})
}
