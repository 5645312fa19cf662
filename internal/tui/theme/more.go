package theme

import "fmt"

// sketch is a built-in theme of which only the main colours are chosen: the
// background, text, muted text, then primary, secondary, accent, error, warning,
// success and info. The others are mixed from them.
type sketch struct {
	name   string
	light  bool
	colors [10]string
}

// sketches holds further themes, most of them known from other programs.
var sketches = [...]sketch{
	{"aura", false, [10]string{"#15141b", "#edecee", "#8a8795", "#a277ff", "#f694ff", "#ffca85", "#ff6767", "#ffca85", "#61ffca", "#82e2ff"}},
	{"ayu", false, [10]string{"#0b0e14", "#bfbdb6", "#7b828f", "#59c2ff", "#d2a6ff", "#e6b450", "#f07178", "#ff8f40", "#aad94c", "#95e6cb"}},
	{"ayu-light", true, [10]string{"#fcfcfc", "#3f444a", "#767b82", "#2f7fc1", "#8a5cb8", "#a66a00", "#c94a4a", "#b85c00", "#5c8000", "#2f7d6b"}},
	{"carbonfox", false, [10]string{"#161616", "#f2f4f8", "#8d9097", "#78a9ff", "#be95ff", "#08bdba", "#ee5396", "#f2b34c", "#42be65", "#33b1ff"}},
	{"catppuccin-frappe", false, [10]string{"#303446", "#c6d0f5", "#a5adce", "#8caaee", "#ca9ee6", "#e5c890", "#e78284", "#ef9f76", "#a6d189", "#99d1db"}},
	{"catppuccin-latte", true, [10]string{"#eff1f5", "#4c4f69", "#6c6f85", "#1e66f5", "#8839ef", "#9a6a12", "#d20f39", "#b3530b", "#2f7d1f", "#0f7596"}},
	{"catppuccin-macchiato", false, [10]string{"#24273a", "#cad3f5", "#a5adcb", "#8aadf4", "#c6a0f6", "#eed49f", "#ed8796", "#f5a97f", "#a6da95", "#91d7e3"}},
	{"cobalt2", false, [10]string{"#193549", "#ffffff", "#93a8b8", "#ffc600", "#fb94ff", "#ff9d00", "#ff7882", "#ff9d00", "#3ad900", "#80fcff"}},
	{"cursor", false, [10]string{"#181818", "#e4e4e4", "#909090", "#88c0d0", "#b48ead", "#ebcb8b", "#e5738a", "#f1b467", "#6fc49b", "#81a1c1"}},
	{"everforest", false, [10]string{"#2d353b", "#d3c6aa", "#9da9a0", "#a7c080", "#d699b6", "#dbbc7f", "#e67e80", "#e69875", "#a7c080", "#7fbbb3"}},
	{"everforest-light", true, [10]string{"#fdf6e3", "#4b565c", "#6f7a70", "#5c7200", "#a8477f", "#8a6500", "#c43a36", "#b3570b", "#5c7200", "#2a6f9e"}},
	{"flexoki", false, [10]string{"#100f0f", "#cecdc3", "#878580", "#3aa99f", "#8b7ec8", "#d0a215", "#d14d41", "#da702c", "#879a39", "#4385be"}},
	{"flexoki-light", true, [10]string{"#fffcf0", "#100f0f", "#6f6e69", "#24837b", "#5e409d", "#8c6d00", "#af3029", "#bc5215", "#66800b", "#205ea6"}},
	{"github", false, [10]string{"#0d1117", "#e6edf3", "#8b949e", "#58a6ff", "#bc8cff", "#e3b341", "#f85149", "#d29922", "#3fb950", "#79c0ff"}},
	{"kanagawa", false, [10]string{"#1f1f28", "#dcd7ba", "#938f8a", "#7e9cd8", "#957fb8", "#e6c384", "#e46876", "#ffa066", "#98bb6c", "#7fb4ca"}},
	{"kanagawa-lotus", true, [10]string{"#f2ecbc", "#545464", "#6f6b58", "#3f5f97", "#624c83", "#77601a", "#c84053", "#a3541f", "#4f6d25", "#40687a"}},
	{"lucent-orng", false, [10]string{"", "#eeeeee", "#8f8f8f", "#ec5b2b", "#ee7948", "#fff7f1", "#e06c75", "#f5a742", "#6ba1e6", "#56b6c2"}},
	{"material", false, [10]string{"#263238", "#eeffff", "#8a9ba3", "#82aaff", "#c792ea", "#ffcb6b", "#f07178", "#f78c6c", "#c3e88d", "#89ddff"}},
	{"matrix", false, [10]string{"#0a0e0a", "#62ff94", "#7aa384", "#2eff6a", "#00efff", "#c770ff", "#ff4b4b", "#e6ff57", "#62ff94", "#30b3ff"}},
	{"mercury", false, [10]string{"#171721", "#dddde5", "#9d9da8", "#8da4f5", "#a7b6f8", "#8da4f5", "#fc92b4", "#fc9b6f", "#77c599", "#77becf"}},
	{"nightowl", false, [10]string{"#011627", "#d6deeb", "#7c8f9f", "#82aaff", "#c792ea", "#ecc48d", "#ef5350", "#f78c6c", "#addb67", "#7fdbca"}},
	{"nord-light", true, [10]string{"#eceff4", "#2e3440", "#5c6678", "#3f6a9e", "#8a5a85", "#8c6414", "#a83f4a", "#a3532f", "#4f7334", "#2f7287"}},
	{"one-dark", false, [10]string{"#282c34", "#bbc2cf", "#8a919d", "#61afef", "#c678dd", "#e5c07b", "#e06c75", "#d19a66", "#98c379", "#56b6c2"}},
	{"one-light", true, [10]string{"#fafafa", "#383a42", "#707178", "#3069d6", "#a626a4", "#956000", "#c93a30", "#986801", "#3d7f3c", "#0176a0"}},
	{"orng", false, [10]string{"#0a0a0a", "#eeeeee", "#8f8f8f", "#ec5b2b", "#ee7948", "#fff7f1", "#e06c75", "#f5a742", "#6ba1e6", "#56b6c2"}},
	{"osaka-jade", false, [10]string{"#111c18", "#c1c497", "#7f9a8b", "#2dd5b7", "#d2689c", "#e5c736", "#ff5345", "#e5c736", "#63b07a", "#8cd3cb"}},
	{"palenight", false, [10]string{"#292d3e", "#bfc7d5", "#8d95b8", "#82aaff", "#c792ea", "#ffcb6b", "#ff6b7c", "#f78c6c", "#c3e88d", "#89ddff"}},
	{"rosepine-dawn", true, [10]string{"#faf4ed", "#575279", "#6e6a86", "#286983", "#76609a", "#95601f", "#a34a6b", "#a3561f", "#3f7046", "#286983"}},
	{"synthwave84", false, [10]string{"#262335", "#ffffff", "#a19fb0", "#36f9f6", "#ff7edb", "#fede5d", "#fe6a70", "#ff8b39", "#72f1b8", "#b893ce"}},
	{"tokyonight-day", true, [10]string{"#e1e2e7", "#343b58", "#5f6690", "#2255b8", "#7847bd", "#7d5a20", "#c0254f", "#a04c10", "#4d6a28", "#006a83"}},
	{"vercel", false, [10]string{"#000000", "#ededed", "#8f8f8f", "#52a8ff", "#bf7af0", "#f99f1b", "#ff6166", "#f99f1b", "#62c073", "#52a8ff"}},
	{"vercel-light", true, [10]string{"#ffffff", "#171717", "#666666", "#0068d6", "#7820bc", "#a35200", "#c5222f", "#a35200", "#28732e", "#0068d6"}},
	{"vesper", false, [10]string{"#101010", "#ffffff", "#a0a0a0", "#ffc799", "#99ffe4", "#ffc799", "#ff8080", "#ffc799", "#99ffe4", "#a8c7fa"}},
	{"zenburn", false, [10]string{"#3f3f3f", "#dcdccc", "#a6a695", "#8cd0d3", "#dc8cc3", "#f0dfaf", "#dc9d9d", "#dfaf8f", "#9fc59f", "#93e0e3"}},
}

// lightOf names the theme that replaces another one on a light background.
// Themes without one stay dark.
var lightOf = map[string]string{
	"lathe": "lathe-light", "system": "system-light", "opencode": "lathe-light", "contrast": "contrast-light", "gruvbox": "gruvbox-light",
	"solarized": "solarized-light", "github": "github-light", "ayu": "ayu-light", "everforest": "everforest-light",
	"flexoki": "flexoki-light", "kanagawa": "kanagawa-lotus", "nord": "nord-light", "one-dark": "one-light",
	"rosepine": "rosepine-dawn", "tokyonight": "tokyonight-day", "vercel": "vercel-light",
	"catppuccin": "catppuccin-latte", "catppuccin-frappe": "catppuccin-latte", "catppuccin-macchiato": "catppuccin-latte",
}

// alias maps theme names used in configurations for OpenCode.
var alias = map[string]string{"opencode": "lathe"}

func (s *sketch) theme() *Theme {
	c := s.colors
	bg, text := c[0], c[1]
	under := bg
	if under == "" {
		under = "#0a0a0a"
	}
	t := &Theme{Name: s.name, Light: s.light, own: true, colors: map[Key]string{
		Background: bg, Text: text, Muted: c[2], Primary: c[3], Secondary: c[4], Accent: c[5], Error: c[6], Warning: c[7],
		Success: c[8], Info: c[9], Panel: mix(under, text, 5), Element: mix(under, text, 11), Border: mix(under, text, 28),
		DiffAddedBg: mix(under, c[8], 17), DiffRemovedBg: mix(under, c[6], 19), Selected: under,
	}}
	return t.legible(Least)
}

// mix returns the colour that is percent of the way from a to b.
func mix(a, b string, percent int) string {
	r1, g1, b1, _ := rgb(a)
	r2, g2, b2, _ := rgb(b)
	part := func(x, y uint8) int { return int(x) + (int(y)-int(x))*percent/100 }
	return fmt.Sprintf("#%02x%02x%02x", part(r1, r2), part(g1, g2), part(b1, b2))
}
