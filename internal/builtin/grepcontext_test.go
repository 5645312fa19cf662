package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/search"
)

func matched(path string, line int, text string) search.Match {
	return search.Match{Path: path, ModTime: time.Unix(0, 0), Line: line, Text: text}
}

func TestGrepContext(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.txt", "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\nnine\r\n")
	put("b.txt", "詩\nlast")
	found := search.GrepResult{Matches: []search.Match{matched("a.txt", 2, "two"), matched("a.txt", 3, "three"), matched("a.txt", 8, "eight"), matched("b.txt", 2, "last"), matched("gone.txt", 1, "gone")}}
	got := grepResult("x", dir, found, 1, "").Output
	want := "Found 5 matches\n" + dir + `/a.txt:
  Line 1- one
  Line 2: two
  Line 3: three
  Line 4- four
  --
  Line 7- seven
  Line 8: eight
  Line 9- nine

` + dir + `/b.txt:
  Line 1- 詩
  Line 2: last

` + dir + `/gone.txt:
  Line 1: gone`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := grepResult("x", dir, found, 0, "").Output; strings.Contains(got, "- ") {
		t.Errorf("without context: %s", got)
	}
}

func TestGrepFilesOnly(t *testing.T) {
	found := search.GrepResult{Matches: []search.Match{matched("b", 1, ""), matched("a", 1, ""), matched("b", 2, "")}}
	if diff := cmp.Diff("Found matches in 2 files:\n/d/b: 2\n/d/a: 1", grepFiles("x", "/d", found, "").Output); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := grepFiles("x", "/d", search.GrepResult{}, "").Output; got != "No line matches" {
		t.Errorf("nothing found: %q", got)
	}
}
