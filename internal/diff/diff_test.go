package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	for _, tc := range []struct{ name, a, b, want string }{
		{"equal", "x\n", "x\n", ""},
		{"create", "", "x\ny\n", "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+x\n+y\n"},
		{"empty", "x\n", "", "--- f\n+++ f\n@@ -1 +0,0 @@\n-x\n"},
		{"newline added", "x", "x\n", "--- f\n+++ f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"},
		{"no newline", "a\nb", "a\nc", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"crlf", "a\r\nb\r\n", "a\r\nc\r\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"},
		{"not utf-8", "\xff\n", "\xfe\n", "--- f\n+++ f\n@@ -1 +1 @@\n-\xff\n+\xfe\n"},
		{
			"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\ny\n9\n",
			"--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n@@ -7,3 +7,3 @@\n 7\n-8\n+y\n 9\n",
		},
		{
			"slides down", "f {\n}\n", "f {\n}\ng {\n}\n",
			"--- f\n+++ f\n@@ -2 +2,3 @@\n }\n+g {\n+}\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Unified("f", "f", tc.a, tc.b, 1)); diff != "" {
				t.Errorf("unified (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHunks(t *testing.T) {
	got := Hunks("a\nb\nc\n", "a\nx\nc\n", 1)
	want := []Hunk{{1, 3, 1, 3, []Line{{Equal, "a\n"}, {Delete, "b\n"}, {Insert, "x\n"}, {Equal, "c\n"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hunks (-want +got):\n%s", diff)
	}
	if got := Hunks("a", "a", 3); got != nil {
		t.Errorf("equal texts gave %v", got)
	}
}

func TestQuoteName(t *testing.T) {
	for in, want := range map[string]string{
		"a.go": "a.go", "a b": "a b\t", "a\nb": `"a\012b"`, `q"\`: `"q\"\\"`, "é": "é",
	} {
		if got := quoteName(in); got != want {
			t.Errorf("quoteName(%q) = %q, want %q", in, got, want)
		}
	}
}

// lcs is the length of a longest common subsequence, by the textbook table.
func lcs(a, b []uint32) int {
	prev := make([]int, len(b)+1)
	for _, x := range a {
		row := make([]int, len(b)+1)
		for j, y := range b {
			if row[j+1] = max(prev[j+1], row[j]); x == y {
				row[j+1] = prev[j] + 1
			}
		}
		prev = row
	}
	return prev[len(b)]
}

func TestMinimal(t *testing.T) {
	ids := rapid.SliceOfN(rapid.Uint32Range(0, 4), 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		gone, added := flags(a, b, maxSteps)
		if d := cmp.Diff(kept(a, gone), kept(b, added)); d != "" {
			t.Fatalf("kept lines differ:\n%s", d)
		}
		if got, want := len(kept(a, gone)), lcs(a, b); got != want {
			t.Errorf("%d lines kept, want %d", got, want)
		}
	})
}

func TestWithoutStepsStillCorrect(t *testing.T) {
	ids := rapid.SliceOfN(rapid.Uint32Range(0, 9), 200, 600)
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		gone, added := flags(a, b, 0)
		if d := cmp.Diff(kept(a, gone), kept(b, added)); d != "" {
			t.Fatalf("kept lines differ:\n%s", d)
		}
	})
}

func kept(s []uint32, changed []bool) []uint32 {
	out := []uint32{}
	for i, v := range s {
		if !changed[i] {
			out = append(out, v)
		}
	}
	return out
}

// apply carries out hunks, the way patch does.
func apply(t interface{ Fatalf(string, ...any) }, before string, hunks []Hunk) string {
	lines := strings.SplitAfter(before, "\n")
	at := 0
	var out strings.Builder
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		for ; at < start; at++ {
			out.WriteString(lines[at])
		}
		for _, l := range h.Lines {
			if l.Op != Delete {
				out.WriteString(l.Text)
			}
			if l.Op != Insert {
				if lines[at] != l.Text {
					t.Fatalf("line %d is %q, hunk has %q", at+1, lines[at], l.Text)
				}
				at++
			}
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func texts() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a", "b", "}", "", "\tx", "-- y", "++ z", "c\r", "\xff\xfe", "@@ -1 +1 @@", "\\ No"})
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "newline") && s != "" {
			s += "\n"
		}
		return s
	})
}

func TestHunksApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		hunks := Hunks(a, b, rapid.IntRange(0, 4).Draw(t, "context"))
		if got := apply(t, a, hunks); got != b {
			t.Errorf("applied %q, want %q", got, b)
		}
		added, removed := 0, 0
		for _, h := range hunks {
			for _, l := range h.Lines {
				added += int(l.Op / Insert)
				removed += int(l.Op & Delete)
			}
		}
		if x, y := Count(a, b); x != added || y != removed {
			t.Errorf("Count = %d, %d; hunks have %d, %d", x, y, added, removed)
		}
	})
}

// git runs git in dir without any configuration of the machine.
func git(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// needGit skips where there is no git to compare with; a git that fails is a failure.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
}

func TestGitApplies(t *testing.T) {
	dir := t.TempDir()
	needGit(t)
	if out, err := git(dir, "", "init", "-q"); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	file := filepath.Join(dir, "a file")
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		if runs++; runs > 40 {
			return // each run starts a process
		}
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		if a == b {
			return
		}
		oldName, newName := "a/a file", "b/a file"
		os.Remove(file)
		if a == "" {
			oldName = os.DevNull
		} else if err := os.WriteFile(file, []byte(a), 0o644); err != nil {
			t.Fatal(err)
		}
		if b == "" {
			newName = os.DevNull
		}
		patch := Unified(oldName, newName, a, b, Context)
		if out, err := git(dir, patch, "apply", "--whitespace=nowarn", "-"); err != nil {
			t.Fatalf("git apply: %v %s\n%s", err, out, patch)
		}
		got, err := os.ReadFile(file)
		if err != nil && b != "" {
			t.Fatal(err)
		}
		if string(got) != b {
			t.Errorf("git apply gave %q, want %q\n%s", got, b, patch)
		}
	})
}

// TestCountsLikeGit compares with git's "minimal" diff, which is not always
// minimal: where most lines changed it drops frequent ones. Ours may be shorter.
func TestCountsLikeGit(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.01, 0.2, 0.7} {
		a, b := generated(rnd, 3000, share)
		write(t, filepath.Join(dir, "a"), a)
		write(t, filepath.Join(dir, "b"), b)
		out, _ := git(dir, "", "diff", "--no-index", "--numstat", "--minimal", "a", "b")
		f := strings.Fields(out)
		if len(f) < 2 {
			t.Fatalf("git: %s", out)
		}
		x, y := Count(a, b)
		got, want := []string{strconv.Itoa(x), strconv.Itoa(y)}, f[:2]
		if w, _ := strconv.Atoi(want[0]); share > 0.5 && x < w {
			continue
		}
		if !cmp.Equal(got, want) {
			t.Errorf("%v changed: counts %v, git has %v", share, got, want)
		}
	}
}

func write(t *testing.T, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generated returns code-like text and a copy with some lines replaced.
func generated(rnd *rand.Rand, lines int, share float64) (a, b string) {
	var x, y strings.Builder
	for i := range lines {
		var l string
		switch i % 5 {
		case 0:
			l = fmt.Sprintf("func f%d() {", i)
		case 4:
			l = "}"
		default:
			l = fmt.Sprintf("\tx := %d", rnd.IntN(50))
		}
		x.WriteString(l + "\n")
		if rnd.Float64() < share {
			l = fmt.Sprintf("\ty := %d", rnd.IntN(50))
		}
		y.WriteString(l + "\n")
	}
	return x.String(), y.String()
}

func TestBounded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	letters := func(n, of int) string {
		out := bytes.Repeat([]byte("a\n"), n)
		for i := range n {
			out[2*i] = byte('a' + rnd.IntN(of))
		}
		return string(out)
	}
	for _, tc := range []struct {
		name string
		a, b string
	}{
		{"two letters", letters(200_000, 2), letters(200_000, 2)},
		{"many letters", letters(200_000, 26), letters(200_000, 26)},
		{"10 MB of blank lines", strings.Repeat("\n", 10<<20), strings.Repeat("x\n", 5<<20)},
		{"10 MB in a line", strings.Repeat("x", 10<<20), strings.Repeat("y", 10<<20)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			x, y := Count(tc.a, tc.b)
			t.Logf("%d added, %d removed in %v", x, y, time.Since(start))
			if d := strings.Count(tc.b, "\n") - strings.Count(tc.a, "\n"); x-y != d {
				t.Errorf("added - removed = %d, want %d", x-y, d)
			}
		})
	}
}

func TestDedent(t *testing.T) {
	head := "--- f\n+++ f\n@@ -1,3 +1,3 @@\n" // the blank third line is part of the hunk
	for _, tc := range []struct{ name, in, want string }{
		{"shared indent", head + " \t\ta\n-\t\t\tb\n+\t\tc\n \n", head + " a\n-\tb\n+c\n \n"},
		{"none", head + " a\n-\tb\n+c\n", head + " a\n-\tb\n+c\n"},
		{"header look-alike", "--- f\n+++ f\n@@ -1,2 +1 @@\n-  -- x\n   y\n", "--- f\n+++ f\n@@ -1,2 +1 @@\n--- x\n y\n"},
		{"empty", "", ""},
		{"no final newline", "@@ -1 +1 @@\n-  a\n\\ No newline at end of file\n+  b\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"},
	} {
		if d := cmp.Diff(tc.want, Dedent(tc.in)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

func TestDedentKeepsLineEnds(t *testing.T) {
	in := "@@ -1,2 +1,2 @@\n   a\r\n-  b\n+  c"
	if got, want := Dedent(in), "@@ -1,2 +1,2 @@\n a\r\n-b\n+c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWords(t *testing.T) {
	pick := func(s string, spans []Span) []string {
		var out []string
		for _, sp := range spans {
			out = append(out, s[sp.Start:sp.End])
		}
		return out
	}
	for _, tc := range []struct {
		a, b           string
		removed, added []string
	}{
		{"return foo(x)", "return bar(x)", []string{"foo"}, []string{"bar"}},
		{"abc", "xyz", []string{"abc"}, []string{"xyz"}},
		{"same", "same", nil, nil},
		{"", "new", nil, []string{"new"}},
		{"打开文件", "关闭文件", []string{"打开"}, []string{"关闭"}},
		{"a \xff b", "a \xfe b", []string{"\xff"}, []string{"\xfe"}},
	} {
		x, y := Words(tc.a, tc.b)
		if d := cmp.Diff([][]string{tc.removed, tc.added}, [][]string{pick(tc.a, x), pick(tc.b, y)}); d != "" {
			t.Errorf("Words(%q, %q) (-want +got):\n%s", tc.a, tc.b, d)
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "a\nc", 3)
	f.Add("", "\xff\r\n\r", 0)
	f.Fuzz(func(t *testing.T, a, b string, context int) {
		context %= 10
		if got := apply(t, a, Hunks(a, b, context)); got != b {
			t.Errorf("applied %q, want %q", got, b)
		}
		u := Unified("a", "b", a, b, context)
		Dedent(u)
		if (u == "") != (a == b) {
			t.Errorf("unified is %q", u)
		}
		removed, added := Words(a, b)
		if x, y := without(a, removed), without(b, added); x != y {
			t.Errorf("unchanged words differ: %q, %q", x, y)
		}
	})
}

func without(s string, spans []Span) string {
	out, at := "", 0
	for _, sp := range spans {
		out += s[at:sp.Start]
		at = sp.End
	}
	return out + s[at:]
}

func FuzzDedent(f *testing.F) {
	f.Add("@@ -1 +1 @@\n-  a\n+  b\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Dedent(s); len(got) > len(s) || strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("Dedent(%q) = %q", s, got)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	for _, lines := range []int{1000, 20_000} {
		for _, share := range []float64{0.01, 0.2} {
			x, y := generated(rand.New(rand.NewPCG(1, 2)), lines, share)
			b.Run(fmt.Sprintf("%d lines %v", lines, share), func(b *testing.B) {
				for b.Loop() {
					Count(x, y)
				}
			})
		}
	}
}
