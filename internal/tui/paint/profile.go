package paint

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

// Profile returns how many colours the terminal has and may be used: none if
// NO_COLOR is set to anything, or on the oldest terminals.
func Profile(out io.Writer, env []string) colorprofile.Profile {
	p := colorprofile.Detect(out, env)
	get := uv.Environ(env).Getenv
	if term := get("TERM"); get("NO_COLOR") != "" || strings.HasPrefix(term, "vt1") || strings.HasPrefix(term, "vt2") {
		p = min(p, colorprofile.ASCII)
	}
	return p
}

// Simple reports whether the terminal understands only the oldest sequences and
// would show others as text.
func Simple(env []string) bool {
	term := uv.Environ(env).Getenv("TERM")
	for _, begin := range []string{"linux", "ansi", "cons25", "vt1", "vt2", "vt52"} {
		if strings.HasPrefix(term, begin) {
			return true
		}
	}
	return false
}

// FewColors reports whether the terminal has sixteen colours or fewer, so that a
// theme that uses only those is right for it.
func FewColors(env []string) bool {
	get := uv.Environ(env).Getenv
	return colorprofile.Env(env) <= colorprofile.ANSI && get("TMUX") == "" && get("TERM") != ""
}
