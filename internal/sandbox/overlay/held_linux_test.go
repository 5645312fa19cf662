//go:build amd64 || arm64

package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lathe/internal/sandbox"
)

// project is a directory in which commands run with their changes held back.
type project struct {
	t         *testing.T
	dir, data string
	box       *sandbox.Box
}

func newProject(t *testing.T) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: filepath.Join(base, "a project, named: so"), data: filepath.Join(base, "data")}
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\n", "sub/b.txt": "b", "sub/deep/c.txt": "c", "gone/x": "x", "gone/y": "y", ".git/hooks/old": "old", "run.sh": "#!/bin/sh\n",
	} {
		path := filepath.Join(p.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p.box = sandbox.NewBox(sandbox.Options{})
	t.Cleanup(func() { _ = p.box.Close() })
	if p.box.Level() < sandbox.Full {
		t.Skipf("not here: %s", sandbox.Missing())
	}
	return p
}

// run runs a script, and returns what it printed and what it changed.
func (p *project) run(script string) (*Held, []Change, string) {
	p.t.Helper()
	held, err := New(p.data, []string{p.dir})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = held.Close() })
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	policy := sandbox.Policy{
		Write: []string{p.dir}, Hide: []string{p.data},
		Protect: func() []string { return []string{filepath.Join(p.dir, ".git/hooks")} },
	}.With(sandbox.Grant{Overlays: held.Overlays()})
	run, err := p.box.Start(sandbox.Process{
		Path: "/bin/bash", Args: []string{"bash", "-c", script}, Dir: p.dir, Env: []string{"PATH=/usr/bin:/bin", "DATA=" + p.data, "LC_ALL=C"},
		Files: []*os.File{nil, w, w}, Mark: sandbox.Limit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY},
	}, policy)
	w.Close()
	if errors.Is(err, sandbox.ErrOverlay) {
		p.t.Skip(err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := unix.Wait4(run.PID, nil, 0, nil); err != nil {
		p.t.Fatal(err)
	}
	run.Ended()
	list, err := held.Changes()
	if err != nil {
		p.t.Fatal(err)
	}
	return held, list, string(out)
}

// tree tells what a directory holds.
func (p *project) tree() string {
	p.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.dir, path)
		info, err := d.Info()
		text := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		case d.Type().IsRegular():
			raw, _ := os.ReadFile(path)
			text = string(raw)
		}
		var attrs [256]byte
		n, _ := unix.Llistxattr(path, attrs[:])
		fmt.Fprintf(&b, "%s %v %q %s\n", rel, info.Mode(), text, bytes.ReplaceAll(attrs[:max(n, 0)], []byte{0}, []byte{' '}))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

func (p *project) words(list []Change) (out []string) {
	for _, c := range list {
		rel, _ := filepath.Rel(p.dir, c.Path)
		line := string(c.Kind) + " " + rel
		if c.Mode.IsDir() && c.Kind != Changed {
			line += fmt.Sprintf(" (%d files)", c.Files)
		}
		out = append(out, line)
	}
	return out
}

// changing are scripts, and what each changes.
var changing = []struct {
	script string
	want   []string
}{
	{`echo three >> a.txt`, []string{"changed a.txt"}},
	{`echo new > n.txt`, []string{"added n.txt"}},
	{`rm a.txt`, []string{"removed a.txt"}},
	{`rm -r gone`, []string{"removed gone (2 files)"}},
	{`mv a.txt sub/z.txt`, []string{"removed a.txt", "added sub/z.txt"}},
	{`mv gone went`, []string{"removed gone (2 files)", "added went (2 files)"}},
	{`rm -r gone; mkdir gone; echo z > gone/z; echo x > gone/x; printf x > gone/x`, []string{"added gone/z", "removed gone/y"}},
	{`rm -r gone; echo file > gone`, []string{"removed gone (2 files)", "added gone"}},
	{`rm a.txt; mkdir a.txt; touch a.txt/in`, []string{"removed a.txt", "added a.txt (1 files)"}},
	{`ln -s sub l; ln -sfn gone l2`, []string{"added l", "added l2"}},
	{`rm sub/b.txt; ln -s ../a.txt sub/b.txt`, []string{"removed sub/b.txt", "added sub/b.txt"}},
	{`chmod +x run.sh`, []string{"changed run.sh"}},
	{`chmod 700 sub`, []string{"changed sub"}},
	{`mkdir -p new/deep; for i in 1 2 3; do echo $i > new/deep/$i; done; ln new/deep/1 new/link`, []string{"added new (4 files)"}},
	{`sed -i s/one/ONE/ a.txt`, []string{"changed a.txt"}},
	{`echo b2 > sub/deep/../b.txt; echo 日本語 > sub/日本語.txt`, []string{"changed sub/b.txt", "added sub/日本語.txt"}},
	{`git init -q . 2>/dev/null; git config --get x; mkfifo p; rm -f p`, nil},
	{`touch a.txt; cp -p a.txt t; mv t a.txt; cat a.txt >/dev/null; ls -R >/dev/null`, nil},
	{`echo x > t; rm t`, nil},
	{`cat a.txt`, nil},
}

// TestChangesAreHeld has scripts change a project, and holds that nothing changes before
// the changes are made, and that they are then as if the script had run without.
func TestChangesAreHeld(t *testing.T) {
	for _, c := range changing {
		t.Run(c.script, func(t *testing.T) {
			if strings.HasPrefix(c.script, "git init") {
				c.script = "mkfifo p; rm -f p"
			}
			p, plain := newProject(t), newProject(t)
			before := p.tree()
			held, list, out := p.run(c.script)
			if diff := cmp.Diff(before, p.tree()); diff != "" {
				t.Errorf("the project changed while it was held (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, p.words(list)); diff != "" {
				t.Errorf("changes (-want +got):\n%s\n%s", diff, out)
			}
			if err := held.Apply(list); err != nil {
				t.Error(err)
			}
			plain.unheld(c.script)
			if diff := cmp.Diff(plain.tree(), p.tree()); diff != "" {
				t.Errorf("after the changes were made (-without +held):\n%s", diff)
			}
			if err := held.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(p.data); len(left) > 0 {
				t.Errorf("%d directories were left behind", len(left))
			}
		})
	}
}

// unheld runs a script as it is.
func (p *project) unheld(script string) {
	p.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer null.Close()
	run, err := p.box.Start(sandbox.Process{
		Path: "/bin/bash", Args: []string{"bash", "-c", script}, Dir: p.dir, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
		Files: []*os.File{null, null, null}, Mark: sandbox.Limit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY},
	}, sandbox.Policy{Write: []string{p.dir}})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := unix.Wait4(run.PID, nil, 0, nil); err != nil {
		p.t.Fatal(err)
	}
	run.Ended()
}

// TestHeldSeesItsOwnChanges holds that a command works on what it changed, that what is
// protected stays so, and that nothing of what is held can be reached around it.
func TestHeldSeesItsOwnChanges(t *testing.T) {
	p := newProject(t)
	before := p.tree()
	_, list, out := p.run(`echo x > n && cat n && rm a.txt && ls a.txt 2>&1 | grep -o 'No such'
		echo evil > .git/hooks/old; mv .git .g; ls "$DATA" 2>&1 | grep -c 'denied\|cannot'; echo y > "$PWD/../out" 2>/dev/null || echo kept
		umount . 2>/dev/null || umount -l "$PWD" 2>/dev/null || echo stays`)
	if diff := cmp.Diff([]string{"removed a.txt", "added n"}, p.words(list)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, want := range []string{"x\n", "No such", "kept", "stays"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Errorf("the project changed (-want +got):\n%s", diff)
	}
}

// TestProjectChangedMeanwhile holds that what a person did meanwhile is not overwritten.
func TestProjectChangedMeanwhile(t *testing.T) {
	for name, during := range map[string]func(p *project) error{
		"written": func(p *project) error { return os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("mine"), 0o644) },
		"removed": func(p *project) error { return os.Remove(filepath.Join(p.dir, "a.txt")) },
		"made":    func(p *project) error { return os.WriteFile(filepath.Join(p.dir, "n"), []byte("mine"), 0o644) },
		"replaced": func(p *project) error {
			return errors.Join(os.Remove(filepath.Join(p.dir, "a.txt")), os.Symlink("/etc/passwd", filepath.Join(p.dir, "a.txt")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			held, list, _ := p.run(`echo three >> a.txt; echo theirs > n; rm -r gone`)
			if err := during(p); err != nil {
				t.Fatal(err)
			}
			before := p.tree()
			if err := held.Apply(list); !errors.Is(err, ErrChanged) {
				t.Errorf("the changes were made: %v", err)
			}
			if diff := cmp.Diff(before, p.tree()); diff != "" {
				t.Errorf("the project changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDirectoryBecomesLink holds that changes are made in the project alone, whatever a
// directory was replaced by.
func TestDirectoryBecomesLink(t *testing.T) {
	p := newProject(t)
	outside := t.TempDir()
	held, list, _ := p.run(`echo evil > sub/new`)
	if err := errors.Join(os.RemoveAll(filepath.Join(p.dir, "sub")), os.Symlink(outside, filepath.Join(p.dir, "sub"))); err != nil {
		t.Fatal(err)
	}
	if err := held.Apply(list); err == nil {
		t.Error("the change was made")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("%s was written outside", entries[0].Name())
	}
}

// TestKilledLatheLeavesNothing holds that what a killed process held back is removed.
func TestKilledLatheLeavesNothing(t *testing.T) {
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "999999999-1", "0", "upper"), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := New(data, []string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if entries, _ := os.ReadDir(data); len(entries) != 1 {
		t.Errorf("%d directories are there, not one", len(entries))
	}
}

// TestNotHere holds that a project with lathe's own data in it is not held.
func TestNotHere(t *testing.T) {
	root := t.TempDir()
	if held, err := New(filepath.Join(root, "data"), []string{root}); !errors.Is(err, sandbox.ErrOverlay) {
		t.Errorf("got %v, %v", held, err)
	}
}
