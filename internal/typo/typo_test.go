package typo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"same", "same", 0}, {"ab", "ba", 2},
		{strings.Repeat("x", 101), "x", maxWord},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"permission", "provider", "model", "a"}
	for word, want := range map[string]string{"permision": "permission", "MODEL": "model", "zzz": "", "b": ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"claude-sonnet-4-5", "claude-opus-4-1", "gpt-5", "gpt-5-mini"}
	for word, want := range map[string][]string{
		"claude-sonet-4-5": {"claude-sonnet-4-5", "claude-opus-4-1"},
		"gpt-5":            {"gpt-5", "gpt-5-mini"},
		"unheard-of":       nil,
	} {
		if diff := cmp.Diff(want, Suggest(word, names)); diff != "" {
			t.Errorf("Suggest(%q) (-want +got):\n%s", word, diff)
		}
	}
}
