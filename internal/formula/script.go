package formula

import (
	"strings"
	"unicode/utf8"
)

const (
	plain  = "0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ∗⊤′"
	raised = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ*ᵀ′"

	plainLow = "0123456789+−=()aehijklmnoprstuvxβγρφχ"
	lowered  = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ"
)

// isScript reports whether a character stands above or below the line.
func isScript(r rune) bool {
	return r != '(' && r != '*' && (strings.ContainsRune(raised, r) || strings.ContainsRune(lowered, r))
}

// script sets a text above or below the line, where there are characters for all of it.
func script(text string, up bool) string {
	text = tidy(text)
	if text == "" {
		return ""
	}
	if up && (text == "∘" || text == "°") {
		return "°"
	}
	if s, ok := shifted(strings.ReplaceAll(text, " ", ""), up); ok {
		return s
	}
	mark := "_"
	if up {
		mark = "^"
	}
	if utf8.RuneCountInString(text) == 1 {
		return mark + text
	}
	return mark + "(" + text + ")"
}

// shifted returns the characters of a text above or below the line.
func shifted(text string, up bool) (string, bool) {
	from, to := plainLow, lowered
	if up {
		from, to = plain, raised
	}
	var b strings.Builder
	for _, r := range text {
		i := strings.IndexRune(from, r)
		if i < 0 {
			return "", false
		}
		n := utf8.RuneCountInString(from[:i])
		for _, to := range to {
			if n == 0 {
				b.WriteRune(to)
				break
			}
			n--
		}
	}
	return b.String(), true
}
