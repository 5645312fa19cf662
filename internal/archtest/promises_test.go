package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// aTest is a test as pages name it: package.TestX.
	aTest = regexp.MustCompile(`\b(?:(\w+)\.)?((?:Test|Fuzz)[A-Z]\w*)`)
	// aScript is a test script as SECURITY.md names it: script `undo`. More names may follow after a comma.
	aScript    = regexp.MustCompile("scripts? ((?:`[a-z_]+`(?:, )?)+)")
	testIsHere = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
)

// TestPromisesHaveTests checks that each test and script named in SECURITY.md exists, and in the package it is said to be in.
func TestPromisesHaveTests(t *testing.T) {
	raw, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(raw)), " ")
	tests := allTests(t)
	seen := 0
	for _, m := range aTest.FindAllStringSubmatch(page, -1) {
		name := m[2]
		if name == "TestName" || name == "TestScripts" { // the page explains its notation with them
			continue
		}
		seen++
		switch {
		case m[1] == "":
			t.Errorf("SECURITY.md names %s without its package", name)
		case !tests[m[1]+"."+name]:
			t.Errorf("SECURITY.md names %s, which does not exist", m[0])
		}
	}
	for _, m := range aScript.FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Split(strings.Trim(m[1], ", "), ", ") {
			name = strings.Trim(name, "`")
			seen++
			if _, err := os.Stat("../../cmd/lathe/testdata/" + name + ".txtar"); err != nil {
				t.Errorf("SECURITY.md names the script %s, which does not exist", name)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d tests were found in SECURITY.md", seen)
	}
}

// allTests returns the names of all tests, each with the name of its directory.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range testIsHere.FindAllSubmatch(src, -1) {
			found[filepath.Base(filepath.Dir(path))+"."+string(m[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
