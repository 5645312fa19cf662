package undo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// TestSummary holds that lists of sessions tell of as many files and lines as the review does: a
// file that only got another name is one file and no lines.
func TestSummary(t *testing.T) {
	if got := Summary(nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
	got := Summary([]lathe.FileDiff{
		{File: "a.go", Before: "x\ny\n", Deletions: 2, Status: "deleted"}, {File: "b.go", After: "x\ny\n", Additions: 2, Status: "added"},
		{File: "c.go", Before: "y\n", After: "z\n", Additions: 1, Deletions: 1, Status: "modified"},
	})
	if diff := cmp.Diff(&lathe.SessionSummary{Files: 2, Additions: 1, Deletions: 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
