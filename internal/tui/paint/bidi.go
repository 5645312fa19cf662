package paint

import (
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Arranges reports whether the terminal is known to arrange text by its direction and to heed
// isolates in it. Where a terminal does not arrange text (xterm, kitty, WezTerm, Alacritty, foot,
// ghostty, Windows Terminal), isolates would only be in what people copy from it; those built on
// VTE arrange it and ignore them; tmux and screen keep their own picture of each cell.
func Arranges(env []string) bool {
	get := uv.Environ(env).Getenv
	if term := get("TERM"); get("TMUX") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux") || Simple(env) {
		return false
	}
	return get("TERM_PROGRAM") == "Apple_Terminal" || get("KONSOLE_VERSION") != "" || strings.HasPrefix(get("TERM"), "mlterm") || get("MLTERM") != ""
}
