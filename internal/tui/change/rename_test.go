package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// TestCountsOfARename holds that what a prompt counts is what its rows count.
func TestCountsOfARename(t *testing.T) {
	added, removed := Counts([]api.ReviewedFile{
		{File: "a", Before: "x\n", Status: "deleted", Deletions: 1}, {File: "b", After: "x\n", Status: "added", Additions: 1},
		{File: "c", Before: "y\n", After: "z\nz\n", Status: "modified", Additions: 2, Deletions: 1},
	})
	if added != 2 || removed != 1 {
		t.Errorf("+%d −%d, want +2 −1", added, removed)
	}
}

// TestRenamed holds that a file that only got another name is told as that, and that
// nothing is guessed.
func TestRenamed(t *testing.T) {
	gone := func(name, text string) api.ReviewedFile {
		return api.ReviewedFile{File: name, Before: text, Status: "deleted"}
	}
	added := func(name, text string) api.ReviewedFile {
		return api.ReviewedFile{File: name, After: text, Status: "added"}
	}
	changed := api.ReviewedFile{File: "c", Before: "x", After: "y", Status: "modified"}
	for name, tt := range map[string]struct {
		files []api.ReviewedFile
		want  [][2]string
	}{
		"another name":      {[]api.ReviewedFile{gone("a", "x"), added("b", "x"), changed}, [][2]string{{"b", "renamed to %s"}, {"a", "renamed from %s"}, {}}},
		"other text":        {[]api.ReviewedFile{gone("a", "x"), added("b", "y")}, [][2]string{{}, {}}},
		"two it could be":   {[]api.ReviewedFile{gone("a", "x"), added("b", "x"), added("c", "x")}, [][2]string{{}, {}, {}}},
		"two it could have": {[]api.ReviewedFile{gone("a", "x"), gone("b", "x"), added("c", "x")}, [][2]string{{}, {}, {}}},
		"no text is known":  {[]api.ReviewedFile{gone("a", ""), added("b", "")}, [][2]string{{}, {}}},
	} {
		var got [][2]string
		for _, f := range tt.files {
			other, way := Renamed(tt.files, f)
			got = append(got, [2]string{other, way})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
