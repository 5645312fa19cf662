package markup

import "testing"

// TestPlain holds that a name has the words of a text and none of the marks.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"## **Done**: `a_b` is\n_gone_":        "Done: a_b is gone",
		"- one\n- [two *2*](https://x)\n1. go": "one two 2 1. go",
		"> said\n> - # so":                     "said so",
		"---\n***both***":                      "both",
		"see:\n```go\na := *b\n```\n~~not~~":   "see: a := *b not",
		"| a | **b** |\n|---|---|\n| 1 | 2 |":  "| a | b | | 1 | 2 |",
		"snake_case *a \\* b* $1":              "snake_case a * b $1",
		"-":                                    "",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("> - # **a** `b`\n```\nc")
	f.Fuzz(func(_ *testing.T, s string) { Plain(s) })
}
