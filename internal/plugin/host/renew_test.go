//go:build unix

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/plugin/host"
)

// renewed is a cache in which demo is installed with the lock 1, and an installer that
// brings the lock 2.
type renewed struct {
	t           *testing.T
	cache, data string
	dir         string // of the installed package
	newer       host.Packages
}

func newRenewed(t *testing.T) renewed {
	r := renewed{t: t, cache: t.TempDir(), data: t.TempDir()}
	p, _ := packages(t, "", false, r.cache, r.data)
	dir, err := p.Install(t.Context(), "demo@^1")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NPM_LOCK", "2")
	r.dir, r.newer = dir, r.packages(false)
	return r
}

func (r renewed) packages(offline bool) host.Packages {
	p, _ := packages(r.t, "", offline, r.cache, r.data)
	return p
}

// locks are those of what is installed and what is pinned.
func (r renewed) locks() (out [2]string) {
	r.t.Helper()
	pinned, err := filepath.Glob(filepath.Join(r.data, "plugins", "*", "package-lock.json"))
	if err != nil || len(pinned) != 1 {
		r.t.Fatalf("pinned %q, %v", pinned, err)
	}
	return [2]string{strings.TrimSpace(read(r.t, filepath.Join(r.dir, "package-lock.json"))), strings.TrimSpace(read(r.t, pinned[0]))}
}

var newLocks = [2]string{`{"lock":2}`, `{"lock":2}`}

func TestRenewPinsWhatItInstalls(t *testing.T) {
	r := newRenewed(t)
	if err := r.newer.Have(t.Context(), "demo@^1", true); err != nil {
		t.Fatal(err)
	}
	if got := r.locks(); got != newLocks {
		t.Errorf("locks %q", got)
	}
	left, err := filepath.Glob(filepath.Join(r.cache, "plugins", "pkg-*"))
	if err != nil || len(left) != 2 { // the package and the lock between processes
		t.Errorf("left %q, %v", left, err)
	}
}

// Wherever lathe dies while a package is renewed, the package can be used afterwards,
// without a network, and is the one that is pinned.
func TestRenewCutShort(t *testing.T) {
	for name, cut := range map[string]func(t *testing.T, r renewed){
		"before it is pinned": func(*testing.T, renewed) {},
		"before the old one is removed": func(t *testing.T, r renewed) {
			put(t, filepath.Join(r.pinned(), "package-lock.json"), newLocks[1])
		},
		"while the old one is removed": func(t *testing.T, r renewed) {
			put(t, filepath.Join(r.pinned(), "package-lock.json"), newLocks[1])
			gone(t, filepath.Join(r.dir, "node_modules", "demo"))
		},
		"before it has the old one's place": func(t *testing.T, r renewed) {
			put(t, filepath.Join(r.pinned(), "package-lock.json"), newLocks[1])
			gone(t, r.dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenewed(t)
			// What renewing leaves when it is cut short there: the newer one beside the old.
			other := newRenewed(t)
			if err := other.newer.Have(t.Context(), "demo@^1", true); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other.dir, r.dir+".fresh"); err != nil {
				t.Fatal(err)
			}
			cut(t, r)
			dir, err := r.packages(true).Install(t.Context(), "demo@^1")
			if err != nil || dir != r.dir {
				t.Fatalf("installed in %q, %v", dir, err)
			}
			read(t, filepath.Join(dir, "node_modules", "demo", "index.js"))
			if got := r.locks(); got != newLocks {
				t.Errorf("locks %q", got)
			}
		})
	}
}

// What cannot be pinned does not take the place of what is.
func TestRenewThatCannotPin(t *testing.T) {
	r := newRenewed(t)
	old := r.locks()
	lock := filepath.Join(r.pinned(), "package-lock.json")
	gone(t, lock)
	if err := os.MkdirAll(filepath.Join(lock, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.newer.Have(t.Context(), "demo@^1", true); err == nil {
		t.Error("it says that it is renewed")
	}
	gone(t, lock)
	put(t, lock, old[1])
	if dir, err := r.packages(true).Install(t.Context(), "demo@^1"); err != nil || dir != r.dir {
		t.Errorf("installed in %q, %v", dir, err)
	}
	if got := r.locks(); got != old {
		t.Errorf("locks %q, want %q", got, old)
	}
}

func (r renewed) pinned() string {
	r.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.data, "plugins", "*"))
	if err != nil || len(dirs) != 1 {
		r.t.Fatalf("pinned %q, %v", dirs, err)
	}
	return dirs[0]
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func gone(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
