package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sleepsLong is a sleep of a second or more.
var sleepsLong = regexp.MustCompile(`time\.Sleep\((?:[0-9]+ ?\* ?)?time\.(?:Second|Minute|Hour)`)

// TestNoTestSleepsForSeconds holds that tests wait for what happens. They may sleep for
// long only in a bubble of testing/synctest, whose time passes at once.
func TestNoTestSleepsForSeconds(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if sleepsLong.Match(src) {
			seen++
			if !strings.Contains(string(src), "\"testing/synctest\"") {
				t.Errorf("%s sleeps for seconds", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no sleep was found, not even in a bubble")
	}
}
