package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe"
)

var when = time.Unix(1_700_000_000, 0).UTC()

func TestPages(t *testing.T) {
	all, err := pages(when)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pages(when)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for i, f := range all {
		have[f.name] = string(f.data)
		if again[i].name != f.name || !bytes.Equal(again[i].data, f.data) {
			t.Errorf("%s differs the second time", f.name)
		}
	}
	for name, part := range map[string]string{
		"man/man1/lathe.1":                 `.TH "LATHE" "1" "Nov 2023"`,
		"man/man1/lathe-run.1":             "lathe run",
		"man/man7/lathe-permissions.7":     "\\- what a model may do without asking you\n.SH DESCRIPTION\nEach tool call",
		"man/man7/lathe-exit-codes.7":      `.TH "LATHE-EXIT-CODES" "7" "Nov 2023"`,
		"completions/bash/lathe":           "__start_lathe",
		"completions/zsh/_lathe":           "#compdef lathe",
		"completions/fish/lathe.fish":      "complete -c lathe",
		"completions/powershell/lathe.ps1": "Register-ArgumentCompleter",
	} {
		if !strings.Contains(have[name], part) {
			t.Errorf("%s does not hold %q", name, part)
		}
	}
}

// TestTopicPage holds that a topic's lines stand in its man page as they are written.
func TestTopicPage(t *testing.T) {
	got := topicPage("trust", "Trust: who may 'steer'\n\nFirst \\n words\n.lathe is read\n\n  lathe trust   says it\n\n    deeper\nAfter.\n\n  last\n", when)
	want := `.TH "LATHE-TRUST" "7" "Nov 2023" "lathe ` + lathe.Version + `" "lathe"
.SH NAME
lathe-trust \- who may \(aqsteer\(aq
.SH DESCRIPTION
First \en words
\&.lathe is read
.PP
.RS 2
.nf
lathe trust   says it

  deeper
.fi
.RE
.PP
After.
.PP
.RS 2
.nf
last
.fi
.RE
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A list in a command's help is a list in its man page.
func TestAsBlocks(t *testing.T) {
	got := asBlocks("Who answers:\n  ask   you\n  deny  nobody\nMore of it.\n\n  a sample\n\nThe end.")
	want := "Who answers:\n\n      ask   you\n      deny  nobody\n\nMore of it.\n\n\n      a sample\n    \n\nThe end."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLicenses(t *testing.T) {
	t.Chdir("../..")
	all, err := licenses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range all {
		found = found || strings.HasPrefix(f.name, "licenses/github.com/spf13/cobra/")
	}
	if !found {
		t.Error("the license of cobra is missing")
	}
}

func TestArchives(t *testing.T) {
	extra := []file{{name: "LICENSE", data: []byte("terms\n"), mode: 0o644}}
	read := map[string]func(*testing.T, string) map[string]string{"linux": readTar, "windows": readZip}
	for system, read := range read {
		t.Run(system, func(t *testing.T) {
			r := release{dir: t.TempDir(), name: "lathe-1-" + system, system: system, when: when}
			first, err := r.write([]byte("program"), extra)
			if err != nil {
				t.Fatal(err)
			}
			r.dir = t.TempDir()
			again, err := r.write([]byte("program"), extra)
			if err != nil {
				t.Fatal(err)
			}
			if first != again {
				t.Errorf("two archives differ:\n%s%s", first, again)
			}
			_, archive, _ := strings.Cut(strings.TrimSpace(first), "  ")
			got := read(t, filepath.Join(r.dir, archive))
			binary := map[string]string{"linux": "lathe", "windows": "lathe.exe"}[system]
			if got[r.name+"/"+binary] != "program" || got[r.name+"/LICENSE"] != "terms\n" || len(got) != 2 {
				t.Errorf("the archive holds %v", got)
			}
		})
	}
}

// The released bytes do not tell where they were built: two copies of the source tree at
// different places give the same program. It compiles everything with the flags of a
// release, so it has a step of its own in .ci/run.
func TestReproducible(t *testing.T) {
	if os.Getenv("LATHE_TEST_REPRODUCIBLE") == "" {
		t.Skip("LATHE_TEST_REPRODUCIBLE is not set; .ci/run and make dist-check set it")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var programs [2][]byte
	for i := range programs {
		dir := t.TempDir()
		if out, err := exec.Command("git", "clone", "-q", filepath.Join(here, "../.."), dir).CombinedOutput(); err != nil {
			t.Fatalf("clone: %v: %s", err, out)
		}
		t.Chdir(dir)
		if programs[i], err = build(t.Context(), "linux", "amd64"); err != nil {
			t.Fatal(err)
		}
		t.Chdir(here)
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("two builds of the same source differ")
	}
}

func readTar(t *testing.T, name string) map[string]string {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = string(body)
	}
}

func readZip(t *testing.T, name string) map[string]string {
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = string(body)
	}
	return got
}
