// Package theme is the colours of the screen: the built-in themes, and those that
// people wrote as JSON files.
package theme

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/tui/styled"
)

// Key names what a colour is for, as theme files spell it.
type Key string

// The keys that lathe draws with. Files may hold more; those are ignored.
const (
	Primary      Key = "primary"
	Secondary    Key = "secondary"
	Accent       Key = "accent"
	Error        Key = "error"
	Warning      Key = "warning"
	Success      Key = "success"
	Info         Key = "info"
	Text         Key = "text"
	Muted        Key = "textMuted"
	Background   Key = "background"
	Panel        Key = "backgroundPanel"
	Element      Key = "backgroundElement"
	Border       Key = "border"
	BorderActive Key = "borderActive"
	Selected     Key = "selectedListItemText"

	DiffAdded     Key = "diffAdded"
	DiffRemoved   Key = "diffRemoved"
	DiffHunk      Key = "diffHunkHeader"
	DiffAddedBg   Key = "diffAddedBg"
	DiffRemovedBg Key = "diffRemovedBg"
	DiffNumber    Key = "diffLineNumber"

	Heading     Key = "markdownHeading"
	Link        Key = "markdownLink"
	Code        Key = "markdownCode"
	Quote       Key = "markdownBlockQuote"
	Emph        Key = "markdownEmph"
	Strong      Key = "markdownStrong"
	Rule        Key = "markdownHorizontalRule"
	ListItem    Key = "markdownListItem"
	Comment     Key = "syntaxComment"
	Keyword     Key = "syntaxKeyword"
	Function    Key = "syntaxFunction"
	StringLit   Key = "syntaxString"
	Number      Key = "syntaxNumber"
	TypeName    Key = "syntaxType"
	Operator    Key = "syntaxOperator"
	Punctuation Key = "syntaxPunctuation"
)

// fallback says which key stands in for one that a theme leaves out.
var fallback = map[Key]Key{
	Secondary: Primary, Accent: Primary, Info: Primary, BorderActive: Primary, Border: Muted, Element: Panel,
	DiffAdded: Success, DiffRemoved: Error, DiffHunk: Info, DiffNumber: Muted,
	Heading: Primary, Link: Info, Code: Accent, Quote: Muted, Emph: Text, Strong: Text, Rule: Border, ListItem: Primary,
	Comment: Muted, Keyword: Secondary, Function: Info, StringLit: Success, Number: Warning, TypeName: Accent,
	Operator: Text, Punctuation: Muted,
}

// Theme gives every key a colour: "" for the terminal's own, "#rrggbb", or a
// palette number.
type Theme struct {
	Name   string
	Light  bool
	colors map[Key]string
	light  *Theme // the same on a light background, if a file says so
	own    bool   // it is built in
	depth  depth  // which colours it keeps to
}

// color follows the fallbacks.
func (t *Theme) color(k Key) string {
	for range 5 {
		if c, ok := t.colors[k]; ok {
			return c
		}
		next, ok := fallback[k]
		if !ok {
			return ""
		}
		k = next
	}
	return ""
}

// FG returns the style that draws text in the key's colour.
func (t *Theme) FG(k Key, attrs ...styled.Style) styled.Style {
	return sgr(t.color(k), "3", "38").With(attrs...)
}

// BG returns the style that draws on the key's colour.
func (t *Theme) BG(k Key) styled.Style { return sgr(t.color(k), "4", "48") }

// Base returns the style that everything is drawn over.
func (t *Theme) Base() styled.Style { return t.BG(Background).With(t.FG(Text)) }

// sgr turns a colour into parameters. short is the digit before one of the eight
// basic colours, long the code before any other.
func sgr(c, short, long string) styled.Style {
	if r, g, b, ok := rgb(c); ok {
		return styled.Style(fmt.Sprintf("%s;2;%d;%d;%d", long, r, g, b))
	}
	n, err := strconv.Atoi(c)
	switch {
	case err != nil || n < 0 || n > 255:
		return ""
	case n < 8:
		return styled.Style(short + c)
	case n < 16 && short == "3":
		return styled.Style("9" + strconv.Itoa(n-8))
	case n < 16:
		return styled.Style("10" + strconv.Itoa(n-8))
	}
	return styled.Style(long + ";5;" + c)
}

func rgb(c string) (r, g, b uint8, ok bool) {
	if len(c) == 4 && c[0] == '#' {
		c = "#" + strings.Repeat(c[1:2], 2) + strings.Repeat(c[2:3], 2) + strings.Repeat(c[3:4], 2)
	}
	if len(c) != 7 && len(c) != 9 || c[0] != '#' {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(c[1:7], 16, 32)
	return uint8(n >> 16), uint8(n >> 8), uint8(n), err == nil
}

// Names returns the built-in themes: the default first, then those of lathe, then
// the others by name.
func Names() []string {
	const ours = 5
	var names, rest []string
	for i, b := range builtin {
		if i < ours {
			names = append(names, b.name)
		} else {
			rest = append(rest, b.name)
		}
	}
	for _, s := range sketches {
		rest = append(rest, s.name)
	}
	slices.Sort(rest)
	return append(names, rest...)
}

// Lookup returns a built-in theme, for a dark background.
func Lookup(name string) (*Theme, bool) {
	if to := alias[name]; to != "" {
		name = to
	}
	for i := range builtin {
		if builtin[i].name == name {
			return builtin[i].theme(), true
		}
	}
	for i := range sketches {
		if sketches[i].name == name {
			return sketches[i].theme(), true
		}
	}
	return nil, false
}

// Default returns the theme that is used when none is chosen.
func Default(dark bool) *Theme {
	t, _ := Lookup("lathe")
	return t.For(dark)
}

// For returns the theme as it is on a dark or a light background. A theme with
// only one form is the same on both.
func (t *Theme) For(dark bool) *Theme {
	if dark {
		return t
	}
	if t.light != nil {
		return t.light
	}
	if other, ok := Lookup(lightOf[t.Name]); ok && t.own {
		other.Name = t.Name
		return other
	}
	return t
}

// Both reports whether the theme has a form for each background.
func (t *Theme) Both() bool { return t.light != nil || t.own && lightOf[t.Name] != "" }

// maxFile bounds a theme file.
const maxFile = 256 << 10

// Parse reads a theme file. A value is a hex colour, a palette number, the name
// of a definition or of another key, "none" or "transparent", or one value each
// for dark and light; [Theme.For] chooses between these.
func Parse(name string, data []byte) (*Theme, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("theme %s: larger than %d bytes", name, maxFile)
	}
	var doc struct {
		Defs  map[string]json.RawMessage `json:"defs"`
		Theme map[string]json.RawMessage `json:"theme"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("theme %s: %w", name, err)
	}
	if len(doc.Theme) == 0 {
		return nil, fmt.Errorf("theme %s: %w", name, errors.New(`it has no "theme" object`))
	}
	dark, err := resolver{doc.Defs, doc.Theme, true}.all(name)
	if err != nil {
		return nil, err
	}
	light, err := resolver{doc.Defs, doc.Theme, false}.all(name)
	if err != nil {
		return nil, err
	}
	if maps.Equal(dark.colors, light.colors) {
		dark.Light = dark.onLight()
		return dark, nil
	}
	light.Light = true
	dark.light = light
	return dark, nil
}

// onLight reports whether a theme's text is dark.
func (t *Theme) onLight() bool {
	r, g, b, ok := rgb(t.color(Text))
	return ok && int(r)*3+int(g)*6+int(b) < 1280
}

type resolver struct {
	defs, theme map[string]json.RawMessage
	dark        bool
}

func (r resolver) all(name string) (*Theme, error) {
	t := &Theme{Name: name, colors: map[Key]string{}}
	for key, raw := range r.theme {
		if key == "thinkingOpacity" {
			continue
		}
		c, err := r.value(raw, 0)
		if err != nil {
			return nil, fmt.Errorf("theme %s: %s: %w", name, key, err)
		}
		t.colors[Key(key)] = c
	}
	return t, nil
}

func (r resolver) value(raw json.RawMessage, depth int) (string, error) {
	if depth > 16 {
		return "", errors.New("the colours refer to each other in a circle")
	}
	var n int
	if json.Unmarshal(raw, &n) == nil {
		if n < 0 || n > 255 {
			return "", fmt.Errorf("palette number %d is not from 0 to 255", n)
		}
		return strconv.Itoa(n), nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return r.name(s, depth)
	}
	var both struct{ Dark, Light json.RawMessage }
	if err := json.Unmarshal(raw, &both); err != nil || both.Dark == nil || both.Light == nil {
		return "", fmt.Errorf("%.60s is not a colour", raw)
	}
	if r.dark {
		return r.value(both.Dark, depth+1)
	}
	return r.value(both.Light, depth+1)
}

func (r resolver) name(s string, depth int) (string, error) {
	if _, _, _, ok := rgb(s); ok {
		return s, nil
	}
	if s == "none" || s == "transparent" {
		return "", nil
	}
	if raw, ok := r.defs[s]; ok {
		return r.value(raw, depth+1)
	}
	if raw, ok := r.theme[s]; ok {
		return r.value(raw, depth+1)
	}
	return "", fmt.Errorf("%q is neither a colour nor the name of one", s)
}
