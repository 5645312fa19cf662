package sandbox

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits on what is remembered of protected files.
const (
	maxRemembered = 256     // files of one directory
	maxContent    = 1 << 20 // bytes of one file
)

// guarded lists what is protected and was not allowed by name.
func (policy *Policy) guarded() []string {
	return slices.DeleteFunc(policy.protectedNow(), policy.given)
}

func (policy *Policy) protectedNow() []string {
	if policy.Protect == nil {
		return nil
	}
	if policy.now != nil && policy.now.looked {
		return slices.Clone(policy.now.protected)
	}
	look := policy.absent.look()
	if policy.now != nil {
		look = policy.now.look
	}
	list := slices.DeleteFunc(slices.Clone(policy.Protect()), func(path string) bool {
		if look.gone(path) {
			return true
		}
		_, err := os.Lstat(path)
		if os.IsNotExist(err) {
			look.missed(path)
		}
		return err != nil
	})
	if policy.now != nil {
		policy.now.protected, policy.now.looked = slices.Clone(list), true
	}
	return list
}

func (policy *Policy) given(path string) bool {
	return slices.ContainsFunc(policy.Given, func(dir string) bool { return below(path, dir) })
}

// guard handles what the kernel cannot prevent: a protected file that is created and,
// where there are no mounts, one that is changed.
type guard struct {
	policy  *Policy
	level   Level
	before  map[string]bool   // the protected paths that were there
	content map[string]tree   // and their content, below the level Full
	dirs    map[string]string // the directories that they are in, with links resolved
	configs map[string][]byte
}

// tree is the content of a file or directory: contents by relative path.
type tree map[string]string

func (policy *Policy) guard(level Level) *guard {
	g := &guard{policy: policy.later(), level: level, before: map[string]bool{}, content: map[string]tree{}, dirs: map[string]string{}, configs: map[string][]byte{}}
	if policy.Lasting {
		return g
	}
	for _, path := range policy.protectedNow() {
		g.dirs[path] = policy.realOf(filepath.Dir(path), evalSymlinks)
		switch {
		case isGitConfig(path):
			g.before[path] = true
			g.configs[path], _ = readBounded(path)
		case policy.given(path):
		default:
			g.before[path] = true
			if level < Full {
				g.content[path] = remember(path)
			}
		}
	}
	return g
}

// Guard remembers the protected files for something that lathe itself is about to do on
// behalf of a process. The function restores what was changed, and moves away what was
// created.
func (policy Policy) Guard() (check func() []Refusal) { return policy.guard(Files).check }

func evalSymlinks(path string) string {
	real, _ := filepath.EvalSymlinks(path)
	return real
}

// isGitConfig reports whether a protected path is a configuration of git.
func isGitConfig(path string) bool {
	if name := filepath.Base(path); name != "config" && name != "config.worktree" {
		return false
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), "HEAD"))
	return err == nil
}

// check restores what was changed and moves away what was created.
func (g *guard) check() (refused []Refusal) {
	if g.policy.Lasting {
		return nil
	}
	now := map[string]bool{}
	for _, path := range g.policy.protectedNow() {
		now[path] = true
		switch {
		case isGitConfig(path):
			refused = append(refused, g.checkConfig(path)...)
		case g.policy.given(path):
		case !g.before[path]:
			if !harmless(path) {
				refused = append(refused, g.aside(path, "create"))
			}
		case g.level < Full:
			refused = append(refused, g.restore(path)...)
		}
	}
	for path, text := range g.configs {
		if !now[path] && text != nil { // it was removed
			refused = append(refused, Refusal{Op: "remove", Path: path, Undone: said(rewrite(path, string(text)), "it was put back as it was")})
		}
	}
	for path := range g.content {
		if !now[path] { // it was removed
			refused = append(refused, g.restore(path)...)
		}
	}
	return refused
}

// checkConfig restores a git configuration that would execute something new.
func (g *guard) checkConfig(path string) []Refusal {
	now, err := readBounded(path)
	before, was := g.configs[path]
	switch {
	case err == nil && bytes.Equal(now, before):
		return nil
	case err == nil && !executesMore(before, now, strings.Contains(path, "/modules/")):
		return nil
	case !was:
		return []Refusal{g.aside(path, "create")}
	}
	return []Refusal{{Op: "write", Path: path, Undone: said(rewrite(path, string(before)), "it was put back as it was")}}
}

// restore restores the content of a protected path.
func (g *guard) restore(path string) (refused []Refusal) {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err != nil && !os.IsNotExist(err) || err == nil && dir != g.dirs[path] {
		return []Refusal{{Op: "write", Path: path, Undone: "its directory is another one now: " + dir}}
	}
	was := g.content[path]
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 && was != nil && !strings.HasPrefix(was["."], linkTo) {
		refused = append(refused, Refusal{Op: "create", Path: path, Undone: said(os.Remove(path), "the link was removed")})
	}
	now := remember(path)
	for rel, text := range now {
		old, there := was[rel]
		at := filepath.Join(path, rel)
		switch {
		case !there:
			if !harmless(at) {
				refused = append(refused, g.aside(at, "create"))
			}
		case old != text:
			refused = append(refused, Refusal{Op: "write", Path: at, Undone: said(rewrite(at, old), "it was put back as it was")})
		}
	}
	for rel, text := range was {
		if _, there := now[rel]; !there {
			at := filepath.Join(path, rel)
			refused = append(refused, Refusal{Op: "write", Path: at, Undone: said(rewrite(at, text), "it was put back as it was")})
		}
	}
	return refused
}

// Contents that stand for what is not a regular file.
const (
	linkTo    = "\x00link to "
	irregular = "\x00"
)

func rewrite(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_ = os.Remove(path)
	if target, ok := strings.CutPrefix(text, linkTo); ok {
		return os.Symlink(target, path)
	}
	if strings.HasPrefix(text, irregular) {
		return fs.ErrInvalid
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	return os.WriteFile(path, []byte(text), mode)
}

// aside moves what was created out of the way.
func (g *guard) aside(path, op string) Refusal {
	r := Refusal{Op: op, Path: path}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		r.Undone = said(os.Remove(path), "it was removed") // what a link leads to is not copied
		return r
	}
	if err := os.MkdirAll(g.policy.Aside, 0o700); err != nil {
		r.Undone = said(err, "")
		return r
	}
	for n := 1; ; n++ {
		to := filepath.Join(g.policy.Aside, filepath.Base(path))
		if n > 1 {
			to += "." + strconv.Itoa(n)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		err := os.Rename(path, to)
		if err != nil { // another file system
			if err = os.CopyFS(to, os.DirFS(path)); err == nil {
				err = os.RemoveAll(path)
			} else if text, bad := readBounded(path); bad == nil {
				if err = os.WriteFile(to, text, 0o600); err == nil {
					err = os.Remove(path)
				}
			}
		}
		r.Undone = said(err, "it was moved to "+to)
		return r
	}
}

func said(err error, done string) string {
	if err != nil {
		return "it is still there: " + err.Error()
	}
	return done
}

// remember reads what a path holds, within bounds.
func remember(path string) tree {
	t := tree{}
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || len(t) >= maxRemembered {
			return fs.SkipAll
		}
		rel, err := filepath.Rel(path, at)
		switch {
		case err != nil || d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			if target, err := os.Readlink(at); err == nil {
				t[rel] = linkTo + target
			}
		case !d.Type().IsRegular():
			t[rel] = irregular
		default:
			if text, err := readBounded(at); err == nil {
				t[rel] = string(text)
			}
		}
		return nil
	})
	return t
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxContent {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// harmless reports whether something that was created steers nothing: the sample hooks
// of a new repository.
func harmless(path string) bool {
	if strings.HasSuffix(path, ".sample") {
		return true
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return false // even a link to a directory that is still empty
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	return filepath.Base(path) == "hooks" && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") })
}
