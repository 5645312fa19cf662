package jsonfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

type notes struct {
	Header
	Lines []string `json:"lines"`
}

func file(t *testing.T) File {
	return File{Path: filepath.Join(t.TempDir(), "below", "notes.json"), Most: 4096, What: "notes", Lost: "write them again", Full: "remove some"}
}

func add(t *testing.T, f File, line string) error {
	var doc notes
	return f.Update(t.Context(), &doc, func() { doc.Lines = append(doc.Lines, line) })
}

// TestUpdate keeps what several add at once, readable by nobody else.
func TestUpdate(t *testing.T) {
	f := file(t)
	var doc notes
	if err := f.Read(&doc); err != nil || len(doc.Lines) != 0 {
		t.Fatalf("%v %v", doc, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := add(t, f, "line"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := f.Read(&doc); err != nil || len(doc.Lines) != 20 {
		t.Errorf("%d lines, %v", len(doc.Lines), err)
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestForm is what the files of earlier programs look like.
func TestForm(t *testing.T) {
	f := file(t)
	if err := add(t, f, "a"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{\n  \"version\": 1,\n  \"lines\": [\n    \"a\"\n  ]\n}\n", string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnreadable neither uses nor replaces what it does not understand.
func TestUnreadable(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "{", "newer": `{"version": 2, "lines": ["a"]}`, "none": `{"lines": []}`, "too long": strings.Repeat(" ", 5000)} {
		t.Run(name, func(t *testing.T) {
			f := file(t)
			if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var doc notes
			for _, err := range []error{f.Read(&doc), add(t, f, "b")} {
				var e *lathe.Error
				if !errors.As(err, &e) || e.Code != lathe.CodeInvalid || e.Hint != "write them again" {
					t.Errorf("got %#v", err)
				}
			}
			if got, err := os.ReadFile(f.Path); err != nil || string(got) != text {
				t.Errorf("the file has %q, %v", got, err)
			}
		})
	}
}

// TestFull never stores more than can be read again.
func TestFull(t *testing.T) {
	f := file(t)
	if err := add(t, f, "first"); err != nil {
		t.Fatal(err)
	}
	var e *lathe.Error
	if err := add(t, f, strings.Repeat("x", 5000)); !errors.As(err, &e) || e.Code != lathe.CodeLimit || e.Hint != "remove some" {
		t.Errorf("got %#v", err)
	}
	var doc notes
	if err := f.Read(&doc); err != nil || !cmp.Equal(doc.Lines, []string{"first"}) {
		t.Errorf("%v %v", doc.Lines, err)
	}
}
