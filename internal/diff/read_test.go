package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	const text = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\told\n@@ -3,3 +3,4 @@ func\n same\n--- gone\n+++ came\n+two\n\n\\ No newline at end of file\n" +
		"Binary files a and b differ\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n@@ whatever\n-c\n+d\nrest\n"
	want := []Row{
		{MarkFile, 0, 0, "x"}, {MarkHunk, 0, 0, "@@ -3,3 +3,4 @@ func"}, {MarkSame, 3, 3, "same"}, {MarkGone, 4, 0, "-- gone"}, {MarkNew, 0, 4, "++ came"}, {MarkNew, 0, 5, "two"}, {MarkSame, 5, 6, ""},
		{MarkOther, 0, 0, "Binary files a and b differ"}, {MarkFile, 0, 0, "y"}, {MarkHunk, 0, 0, "@@ -1 +1 @@"}, {MarkGone, 1, 0, "a"}, {MarkNew, 0, 1, "b"},
		{MarkHunk, 0, 0, "@@ whatever"}, {MarkGone, 1, 0, "c"}, {MarkNew, 0, 1, "d"}, {MarkOther, 0, 0, "rest"},
	}
	if diff := cmp.Diff(want, Read(text)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := Read(""); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// TestReadLeavesNothingOut holds that what a diff adds and removes is read back,
// whatever the texts look like.
func TestReadLeavesNothingOut(t *testing.T) {
	line := rapid.SampledFrom([]string{"", "a", "+", "-", "++ x", "-- x", "++ b/f", "@@ -1 +1 @@", `\ No newline`, " x", "diff --git a b", "\r", "x\ry", "Index: f"})
	file := rapid.SliceOfN(line, 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		before, after := file.Draw(t, "before"), file.Draw(t, "after")
		join := func(lines []string) string {
			if len(lines) == 0 {
				return ""
			}
			return strings.Join(lines, "\n") + "\n"
		}
		var old, new []string
		for _, l := range Read(Unified("f", "f", join(before), join(after), 100)) {
			if l.Mark == MarkSame || l.Mark == MarkGone {
				old = append(old, l.Text)
			}
			if l.Mark == MarkSame || l.Mark == MarkNew {
				new = append(new, l.Text)
			}
		}
		if join(before) == join(after) {
			return
		}
		if join(old) != join(before) || join(new) != join(after) {
			t.Fatalf("before %q, read %q; after %q, read %q", before, old, after, new)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add("@@ -1,99999999999999999999 +1 @@\n x")
	f.Fuzz(func(t *testing.T, text string) {
		got := Read(text)
		if len(got) > strings.Count(text, "\n")+1 {
			t.Errorf("%d lines of %q", len(got), text)
		}
	})
}
