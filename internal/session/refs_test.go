package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindReferences(t *testing.T) {
	for text, want := range map[string][]string{
		"look at @main.go.":                  {"main.go"},
		"@a/b.go, @.env and @./x.y":          {"a/b.go", ".env", "./x.y"},
		"mail me@example.com or `@code`":     nil,
		"(@dir/file.go#10-20) @dir/file.go…": {"dir/file.go#10-20)", "dir/file.go…"},
		"@same @same @ @@x":                  {"same", "x"},
		"@explore: go":                       {"explore:"},
		"日本@x @日本.txt":                       {"日本.txt"},
		"wait...@f":                          {"f"},
		"@a..b":                              {"a"},
	} {
		var got []string
		for _, r := range findReferences(text) {
			got = append(got, r.name)
			if text[r.start:r.end] != "@"+r.name {
				t.Errorf("%q: offsets %d to %d are not those of %q", text, r.start, r.end, r.name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if n := len(findReferences(strings.Repeat("@a ", 3) + many(200))); n != maxReferences {
		t.Errorf("%d references were found", n)
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" @f" + strings.Repeat("x", i))
	}
	return b.String()
}

func TestLineQuery(t *testing.T) {
	for in, want := range map[string]string{"12-34": "end=34&start=12", "12": "start=12", "5-5": "end=5&start=5", "9-3": "start=9", "x": "", "0": "", "-3": ""} {
		if got := lineQuery(in); got != want {
			t.Errorf("lineQuery(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzFindReferences(f *testing.F) {
	f.Add("a @b.c, @d#1-2 `@e`")
	f.Add("@\xff. @é.")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range findReferences(text) {
			if r.name == "" || text[r.start:r.end] != "@"+r.name {
				t.Fatalf("reference %+v in %q", r, text)
			}
			if src := sourceText(text, r); src.End <= src.Start {
				t.Fatalf("source %+v in %q", src, text)
			}
		}
	})
}
