package markup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// elements reads a text as those who draw it do; plain text stands between elements.
func elements(text string) (out []Element) {
	var d Delimiters
	plain := ""
	for at := 0; at < len(text); {
		e, n := d.Element(text, at, true, true)
		if n == 0 {
			plain += text[at : at+1]
			at++
			continue
		}
		if plain != "" {
			out, plain = append(out, Element{Text: plain}), ""
		}
		out = append(out, e)
		at += n
	}
	if plain != "" {
		out = append(out, Element{Text: plain})
	}
	return out
}

func TestElement(t *testing.T) {
	for text, want := range map[string][]Element{
		"a **b** `c`":             {{Text: "a "}, {Kind: Strong, Text: "b"}, {Text: " "}, {Kind: Code, Text: "c"}},
		"*a ~~b~~":                {{Kind: Literal, Text: "*"}, {Text: "a "}, {Kind: Strike, Text: "b"}},
		"snake_case_name":         {{Text: "snake"}, {Kind: Literal, Text: "_"}, {Text: "case"}, {Kind: Literal, Text: "_"}, {Text: "name"}},
		"[a *b*](https://x/(y))":  {{Kind: Linked, Text: "a *b*", URL: "https://x/(y)"}},
		"![p](javascript:a)":      {{Kind: Linked, Text: "p", URL: "javascript:a", Image: true}},
		"<https://x> http://y.z.": {{Kind: Auto, Text: "https://x", URL: "https://x"}, {Text: " "}, {Kind: Auto, Text: "http://y.z", URL: "http://y.z"}, {Text: "."}},
		"<script>&lt;b&gt; \\*":   {{Text: "<script>"}, {Kind: Literal, Text: "<"}, {Text: "b"}, {Kind: Literal, Text: ">"}, {Text: " "}, {Kind: Literal, Text: "*"}},
		"***both*** 中**文**":       {{Kind: StrongEmph, Text: "both"}, {Text: " 中"}, {Kind: Strong, Text: "文"}},
		"`` a`b `` &nosuch; \\a ": {{Kind: Code, Text: "a`b"}, {Text: " &nosuch; \\a "}},
	} {
		if diff := cmp.Diff(want, elements(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestTable(t *testing.T) {
	for _, test := range []struct {
		head, delim string
		want        bool
	}{
		{"|a|b|", "|-|:-:|", true},
		{"a | `b|c`", "- | -", true},
		{"a", "-", false},
		{"|a|b|", "|-|", false},
	} {
		if got := Table(test.head, test.delim); got != test.want {
			t.Errorf("Table(%q, %q) is %v", test.head, test.delim, got)
		}
	}
}
