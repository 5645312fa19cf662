package theme

import "strings"

// palette is a built-in theme: its colours in the order of [paletteKeys].
type palette struct {
	name   string
	light  bool
	colors [16]string
}

var paletteKeys = [16]Key{
	Background, Panel, Element, Text, Muted, Border,
	Primary, Secondary, Accent, Error, Warning, Success, Info,
	DiffAddedBg, DiffRemovedBg, Selected,
}

// builtin holds the themes in the order they are listed. "lathe" and "system" draw
// on the terminal's own background; "system" keeps to its sixteen colours.
var builtin = [...]palette{
	{"lathe", false, [16]string{"", "#20242b", "#2c313a", "", "#8b939e", "#454c57", "#7fb4ca", "#c6a0f6", "#e5c07b", "#e46876", "#e6a54a", "#98bb6c", "#7aa2f7", "#1d3324", "#3c2226", "#11151b"}},
	{"lathe-light", true, [16]string{"", "#f0f1f4", "#e2e5ea", "", "#69707d", "#c4c9d2", "#1f6f8b", "#7c3aad", "#925f00", "#c22f3d", "#a15c00", "#3d7a1f", "#2457c5", "#ddf4e0", "#fde3e4", "#ffffff"}},
	{"system", false, [16]string{"", "", "0", "", "7", "8", "14", "13", "11", "9", "11", "10", "14", "", "", "15"}},
	{"contrast", false, [16]string{"#000000", "#000000", "#1a1a1a", "#ffffff", "#d0d0d0", "#ffffff", "#00ffff", "#ff9dff", "#ffff00", "#ff8080", "#ffd000", "#66ff66", "#8fc7ff", "#003b00", "#550000", "#000000"}},
	{"contrast-light", true, [16]string{"#ffffff", "#ffffff", "#e8e8e8", "#000000", "#333333", "#000000", "#00458b", "#6a0080", "#6b4500", "#a00000", "#7a4a00", "#005a00", "#00378b", "#d2ffd2", "#ffd6d6", "#ffffff"}},
	{"nord", false, [16]string{"#2e3440", "#3b4252", "#434c5e", "#eceff4", "#8d97aa", "#4c566a", "#88c0d0", "#b48ead", "#ebcb8b", "#bf616a", "#d08770", "#a3be8c", "#81a1c1", "#3b4a43", "#4a3b43", "#2e3440"}},
	{"dracula", false, [16]string{"#282a36", "#2f3241", "#44475a", "#f8f8f2", "#8490be", "#44475a", "#bd93f9", "#ff79c6", "#f1fa8c", "#ff5555", "#ffb86c", "#50fa7b", "#8be9fd", "#23443a", "#4b2b36", "#282a36"}},
	{"gruvbox", false, [16]string{"#282828", "#32302f", "#3c3836", "#ebdbb2", "#a89984", "#665c54", "#83a598", "#d3869b", "#fabd2f", "#fb4934", "#fe8019", "#b8bb26", "#8ec07c", "#32361a", "#3c1f1e", "#282828"}},
	{"gruvbox-light", true, [16]string{"#fbf1c7", "#f2e5bc", "#ebdbb2", "#3c3836", "#7c6f64", "#bdae93", "#076678", "#8f3f71", "#b57614", "#9d0006", "#af3a03", "#79740e", "#427b58", "#e4e6b4", "#f4cdb8", "#fbf1c7"}},
	{"tokyonight", false, [16]string{"#1a1b26", "#1f2335", "#292e42", "#c0caf5", "#787fa3", "#3b4261", "#7aa2f7", "#bb9af7", "#e0af68", "#f7768e", "#ff9e64", "#9ece6a", "#7dcfff", "#20303b", "#37222c", "#1a1b26"}},
	{"catppuccin", false, [16]string{"#1e1e2e", "#181825", "#313244", "#cdd6f4", "#9399b2", "#45475a", "#89b4fa", "#cba6f7", "#f9e2af", "#f38ba8", "#fab387", "#a6e3a1", "#89dceb", "#2a3a35", "#3f2a38", "#1e1e2e"}},
	{"monokai", false, [16]string{"#272822", "#2d2e27", "#3e3d32", "#f8f8f2", "#9a9581", "#57584f", "#66d9ef", "#ae81ff", "#e6db74", "#f92672", "#fd971f", "#a6e22e", "#66d9ef", "#33401c", "#471f2e", "#272822"}},
	{"solarized", false, [16]string{"#002b36", "#073642", "#0b4553", "#93a1a1", "#657b83", "#586e75", "#268bd2", "#6c71c4", "#b58900", "#dc322f", "#cb4b16", "#859900", "#2aa198", "#0c3b2a", "#33262b", "#fdf6e3"}},
	{"solarized-light", true, [16]string{"#fdf6e3", "#eee8d5", "#e4ddc8", "#586e75", "#839496", "#93a1a1", "#268bd2", "#6c71c4", "#b58900", "#dc322f", "#cb4b16", "#859900", "#2aa198", "#e7eec4", "#f8d9cf", "#fdf6e3"}},
	{"github-light", true, [16]string{"#ffffff", "#f6f8fa", "#eaeef2", "#1f2328", "#656d76", "#d0d7de", "#0969da", "#8250df", "#953800", "#cf222e", "#9a6700", "#1a7f37", "#0550ae", "#dafbe1", "#ffebe9", "#ffffff"}},
	{"system-light", true, [16]string{"", "", "15", "", "", "8", "4", "5", "5", "1", "5", "4", "4", "", "", "0"}},
	{"rosepine", false, [16]string{"#191724", "#1f1d2e", "#26233a", "#e0def4", "#908caa", "#403d52", "#9ccfd8", "#c4a7e7", "#f6c177", "#eb6f92", "#f6c177", "#8fb878", "#31748f", "#23323a", "#3b2436", "#191724"}},
}

func (p *palette) theme() *Theme {
	t := &Theme{Name: p.name, Light: p.light, own: true, colors: make(map[Key]string, len(p.colors))}
	for i, c := range p.colors {
		t.colors[paletteKeys[i]] = c
	}
	if strings.HasPrefix(p.name, "system") {
		t.depth = sixteen
	}
	if strings.HasPrefix(p.name, "contrast") {
		return t.legible(high)
	}
	return t.legible(Least)
}
