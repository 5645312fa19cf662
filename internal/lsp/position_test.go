package lsp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestConvert(t *testing.T) {
	const line = "aé😀b"
	tests := []struct {
		at       int
		from, to encoding
		want     int
	}{
		{0, utf8Units, utf16Units, 0}, {1, utf8Units, utf16Units, 1}, {3, utf8Units, utf16Units, 2}, {7, utf8Units, utf16Units, 4},
		{4, utf16Units, utf8Units, 7}, {4, utf16Units, utf32Units, 3}, {3, utf32Units, utf16Units, 4}, {99, utf8Units, utf16Units, 5}, {-1, utf8Units, utf16Units, 0},
	}
	for _, tt := range tests {
		if got := convert(line, tt.at, tt.from, tt.to); got != tt.want {
			t.Errorf("%d %s in %s: %d, want %d", tt.at, tt.from, tt.to, got, tt.want)
		}
	}
}

// A change that is sent as a range makes the new text of the old one, whatever both are.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab😀é\n\r")))
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		change := difference(before, after, utf16Units)
		start, end := offsetIn(before, change.Range.Start), offsetIn(before, change.Range.End)
		if start > end {
			t.Fatalf("%+v", change)
		}
		if got := before[:start] + change.Text + before[end:]; got != after {
			t.Fatalf("%q to %q: %+v makes %q", before, after, change, got)
		}
	})
}

func TestLinesOf(t *testing.T) {
	if got := strings.Join(linesOf("a\r\nb\rc\n\nd"), "|"); got != "a|b|c||d" {
		t.Error(got)
	}
}

func TestPathsAndURIs(t *testing.T) {
	for path, uri := range map[string]string{"/a b/ö#?.go": "file:///a%20b/%C3%B6%23%3F.go", "/x": "file:///x"} {
		if got := uriOf(path); got != uri {
			t.Errorf("%s: %s", path, got)
		}
		if got := pathOf(uri); got != path {
			t.Errorf("%s: %s", uri, got)
		}
	}
	for _, uri := range []string{"", "untitled:1", "file://", "::", "file:relative", "https://x/y"} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%q is %q", uri, got)
		}
	}
}
