package highlight

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, test := range []struct {
		lang, code string
		want       [][]Span
	}{
		{"go", "func Add(n int) { // sum\n\treturn \"a\" + 12", [][]Span{
			{{"func", Keyword}, {" ", Plain}, {"Add", Function}, {"(n ", Plain}, {"int", Type}, {") { ", Plain}, {"// sum", Comment}},
			{{"\t", Plain}, {"return", Keyword}, {" ", Plain}, {`"a"`, String}, {" + ", Plain}, {"12", Number}},
		}},
		{".PY", "x = \"\"\"one\ntwo\"\"\" # 好", [][]Span{
			{{"x = ", Plain}, {`"""one`, String}},
			{{`two"""`, String}, {" ", Plain}, {"# 好", Comment}},
		}},
		{"sh", "go test ./x; test -f y && cd /tmp | sudo eval if", [][]Span{{
			{"go test ./x; ", Plain}, {"test", Type}, {" -f y && ", Plain}, {"cd", Type}, {" /tmp | ", Plain}, {"sudo", Type}, {" ", Plain}, {"eval", Type}, {" ", Plain}, {"if", Keyword},
		}}},
		{"bash", "for f in *; do echo done; done", [][]Span{{
			{"for", Keyword}, {" f ", Plain}, {"in", Keyword}, {" *; ", Plain}, {"do", Keyword}, {" ", Plain}, {"echo", Type}, {" done; ", Plain}, {"done", Keyword},
		}}},
		{"klingon", "qapla", nil},
	} {
		if diff := cmp.Diff(test.want, Lines(test.lang, strings.Split(test.code, "\n"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.lang, diff)
		}
	}
}

// FuzzLinesLoseNothing holds that the pieces of a line are the line, whatever it is.
func FuzzLinesLoseNothing(f *testing.F) {
	f.Add("go", "a := `x\ny` /* z")
	f.Add("html", "<a href='\"'>好\xff<!--")
	f.Add("sql", "select 'a''b' -- c")
	f.Add("yaml", "a-b: \"\\")
	f.Fuzz(func(t *testing.T, lang, code string) {
		want := strings.Split(code, "\n")
		lines := Lines(lang, want)
		if lines == nil {
			return
		}
		got := make([]string, len(lines))
		for i, l := range lines {
			for _, s := range l {
				if s.Text == "" {
					t.Errorf("line %d has an empty piece", i)
				}
				got[i] += s.Text
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}
