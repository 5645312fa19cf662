package page

import (
	"image/color"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/paint/emulator"
)

func TestMarkdown(t *testing.T) {
	for src, want := range map[string]string{
		"a\nb  \nc":                           "<p>a b<br>\nc</p>\n",
		"Title\n===\nSub\n---\n###### Deep":   "<h3>Title</h3>\n<h4>Sub</h4>\n<h6>Deep</h6>\n",
		"- a\n  - b\n    more\n- c":           "<ul>\n<li>a<ul>\n<li>b more</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n",
		"3. x\n4. y":                          "<ol start=3>\n<li>x</li>\n<li>y</li>\n</ol>\n",
		"- a\n\n- b":                          "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"- a\n\n1. b":                         "<ul>\n<li>a</li>\n</ul>\n<ol>\n<li>b</li>\n</ol>\n",
		"- [ ] open\n- [x] done":              "<ul>\n<li class=task>☐ open</li>\n<li class=task>☑ done</li>\n</ul>\n",
		"- a\n\n  ```\n  x\n  ```":            "<ul>\n<li>a<pre>x</pre>\n</li>\n</ul>\n",
		"> q\n> - r":                          "<blockquote><p>q</p>\n<ul>\n<li>r</li>\n</ul>\n</blockquote>\n",
		"|a|b|\n|:-:|--:|\n|1|`x|y`|":         "<div class=wide><table>\n<tr><th class=m>a<th class=r>b\n<tr><td class=m>1<td class=r><code>x|y</code>\n</table></div>\n",
		"```go\nif a < b {\n```":              "<pre><b>if</b> a &lt; b {</pre>\n",
		"```diff\n+a\n-b\n```":                "<pre><ins>+a\n</ins><del>-b\n</del></pre>\n",
		"    indented <b>":                    "<pre>indented &lt;b&gt;</pre>\n",
		"***":                                 "<hr>\n",
		"[a](https://x.example/?q=1&r=2)":     `<p><a class=to href="https://x.example/?q=1&amp;r=2">a</a></p>` + "\n",
		"[a](main.go:12) ![p](https://x.y/z)": `<p>a (main.go:12) <a class=to href="https://x.y/z">p</a></p>` + "\n",
		"<b>x</b>":                            "<p>&lt;b&gt;x&lt;/b&gt;</p>\n",
		"```mermaid\ngraph TD\nA[Go] --> B[\"x < y\"]\n```": "<pre>Go\n└─▶ x &lt; y</pre>\n",
		"```mermaid\ngitGraph <b>\n```":                     "<pre>gitGraph &lt;b&gt;</pre>\n",
		"$e^{i\\pi}$ **中文**":                                "<p><em>e^(iπ)</em> <strong>中文</strong></p>\n",
	} {
		if diff := cmp.Diff(want, markdown(src)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

func TestLinesRead(t *testing.T) {
	for _, test := range []struct {
		name string
		call call
		want int
	}{
		{"part of a file", call{tool: "read", output: "9: a\n\n(more)", meta: map[string]any{"display": map[string]any{"lineStart": 9.0, "lineEnd": 12.0}}}, 4},
		{"an earlier version's", call{tool: "read", output: "a\nb\n"}, 2},
		{"a picture", call{tool: "read", output: "Image read successfully"}, 0},
		{"a directory", call{tool: "read", output: "a/", meta: map[string]any{"display": map[string]any{"totalEntries": 1.0}}}, 0},
		{"no read", call{tool: "bash", output: "a"}, 0},
	} {
		if got := test.call.linesRead(); got != test.want {
			t.Errorf("%s: %d lines, want %d", test.name, got, test.want)
		}
	}
}

func TestConsole(t *testing.T) {
	for out, want := range map[string]string{
		"plain <b>":                                          "plain &lt;b&gt;",
		"\x1b[1;32mok\x1b[0m done":                           `<span class="a2 h">ok</span> done`,
		"\x1b[31mred\ngoes on\x1b[39m\n":                     "<span class=a1>red\ngoes on</span>",
		"10%\r50%\r100%\ndone\r\n":                           "100%\ndone",
		"\x1b[33mwait\r\x1b[2Kover\x1b[m":                    `<span class=a3>over</span>`,
		"\x1b[38;5;196mx\x1b[38;2;0;0;250my":                 `<span class=a1>x</span><span class=a4>y</span>`,
		"\x1b[38;5;244mgrey\x1b[48;2;9;9;9m still":           `<span class=d>grey still</span>`,
		"\x1b]0;title\aa\x1b[2Jb\x1b[?25lc":                  "abc",
		"\x1b[91;3;4mx\x1b[22;23;24m":                        `<span class="a1 it ul">x</span>`,
		"\x1b[30;42m PASS \x1b[m \x1b[7;31mbad\x1b[27m.":     `<span class="a2 v"> PASS </span> <span class="a1 v">bad</span><span class=a1>.</span>`,
		"\x1b[37;40mblack on black\x1b[9mx":                  `black on black<span class=st>x</span>`,
		"\x1b[4munder\x1b[24m \x1b[9mgone\x1b[29m \x1b[31mr": `<span class=ul>under</span> <span class=st>gone</span> <span class=a1>r</span>`,
		"\x1b]8;;javascript:x\x1b\\y\x1b]8;;\x1b\\":          "y",
		"\x1b[":                        "",
		"\x1b[999999999999999999999mx": "x",
	} {
		if diff := cmp.Diff(want, console(out)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", out, diff)
		}
	}
	if got := console(strings.Repeat("\x1b[31mx\x1b[0my", maxColours)); got != strings.Repeat("xy", maxColours) {
		t.Errorf("colours without end take %d bytes", len(got))
	}
}

func TestMarked(t *testing.T) {
	for _, test := range []struct{ line, other, want string }{
		{"return nil", "return err", "return <mark>nil</mark>"},
		{"价格是三元", "价格是四元", "价格是<mark>三</mark>元"},
		{"a", "completely different", "a"},
		{"same", "same and more", "same"},
		{"a < b", "a > b", "a <mark>&lt;</mark> b"},
	} {
		if got := marked(test.line, test.other); got != test.want {
			t.Errorf("marked(%q, %q) is %q, not %q", test.line, test.other, got, test.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{1500 * time.Millisecond: "1.5 s", 42 * time.Second: "42 s", 61 * time.Second: "1 min 1 s", 2*time.Hour + 5*time.Minute: "2 h 5 min"} {
		if got := duration(d); got != want {
			t.Errorf("duration(%s) is %q, not %q", d, got, want)
		}
	}
}

func TestNumbered(t *testing.T) {
	for out, want := range map[string]string{
		"9: \ta\n10: \tb\n11: c": "  9 \ta\n 10 \tb\n 11 c",
		"999: a\n1000: \tb":      "    999 a\n   1000 \tb",
		"Found 2 matches\na.go:\n  Line 9: \tx\n  Line 10- \ty": "Found 2 matches\na.go:\n  9:\tx\n 10-\ty",
		"a.go\nb.go": "a.go\nb.go",
	} {
		if diff := cmp.Diff(want, numbered(out)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", out, diff)
		}
	}
}

// TestContrast computes that every text of the page can be read, on a light and on a dark
// one: 4.5 to 1 is what the guidelines for accessible pages ask for.
func TestContrast(t *testing.T) {
	rule := regexp.MustCompile(`([^{}*/\n]+)\{([^{}]*)\}`)
	pair := regexp.MustCompile(`(color|background|--box):light-dark\((#\w+),(#\w+)\)`)
	for theme, name := range []string{"light", "dark"} {
		texts, grounds := map[string]color.Color{}, map[string]color.Color{}
		for _, r := range rule.FindAllStringSubmatch(style, -1) {
			for _, m := range pair.FindAllStringSubmatch(r[2], -1) {
				if c := parse(t, m[2+theme]); m[1] == "color" {
					texts[r[1]] = c
				} else {
					grounds[r[1]] = c
				}
			}
		}
		if len(texts) != 19 || len(grounds) != 7 {
			t.Fatalf("%d colours of text on %d grounds were found", len(texts), len(grounds))
		}
		for text, c := range texts {
			for ground, on := range grounds {
				if strings.HasSuffix(ground, "mark") || ground == "ins" || ground == "del" {
					if text != "body" {
						continue // a diff is not highlighted
					}
				}
				if got := emulator.Contrast(c, on); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, got)
				}
			}
		}
	}
	if strings.Contains(style, "opacity") {
		t.Error("opacity changes the contrast of text")
	}
}

func parse(t *testing.T, hex string) color.Color {
	t.Helper()
	hex = strings.TrimPrefix(hex, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
}
