package console

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":           "plain\ttext\n",
		"中文 é 🙂":                  "中文 é 🙂",
		"\x1b[31mred\x1b[0m":      "red",
		"\x1b]52;c;cm0gLXJm\x07x": "x",
		"\x1b]0;title\x1b\\x":     "x",
		"a\rb\bc\x00":             "abc",
		"\u009b31mx":              "31mx",
		"abc\u202egnp.exe":        "abcgnp.exe",
		"\x1bP$q\x1b\\y":          "y",
		"bad \xff byte":           "bad \ufffd byte",
		"\x1b":                    "",
		"\x1b[":                   "",
		"\x1b]never ended\nnext":  "\nnext",
		"tag\U000E0041":           "tag",
		"\x1b[\x1b[2Jx":           "x",
		"\x1b\x1b[2Jx":            "x",
		"\x1bcreset":              "reset",
		"\x1b]8;;http://e.x\x1b\\l\x1b]8;;\x1b\\": "l",
	} {
		if got := Clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := OneLine("a\n  b\tc", 10); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := OneLine(strings.Repeat("字", 20), 5); got != "字字字字…" {
		t.Errorf("got %q", got)
	}
}
