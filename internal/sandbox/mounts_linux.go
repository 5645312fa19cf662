//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// devices are what programs write to that are not anybody's files.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// ownDevices are those of which a process has its own at the level Full: terminals, and
// memory that programs share.
var ownDevices = []string{"/dev/pts", "/dev/shm"}

// rules makes Landlock's part of the policy. Close it.
func (policy *Policy) rules(level Level) (*ruleset, error) {
	r, err := newRuleset(level < Full)
	if err != nil {
		return nil, err
	}
	for _, path := range policy.existing(slices.Concat(policy.Write, policy.Given, devices)) {
		if err == nil && (level < Full || !slices.Contains(ownDevices, path)) {
			err = r.write(path)
		}
	}
	if level < Full && err == nil {
		err = r.read("/", policy.hidden())
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// hidden lists existing hidden paths, with links resolved, and without what is shown.
func (policy *Policy) hidden() []string {
	shown := policy.existing(slices.Concat(policy.Show, policy.Given))
	var out []string
	var hide func(path string)
	hide = func(path string) {
		around := slices.ContainsFunc(shown, func(s string) bool { return below(s, path) })
		if slices.Contains(shown, path) {
			return
		}
		if !around {
			out = append(out, path)
			return
		}
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				hide(filepath.Join(path, e.Name()))
			}
		}
	}
	for _, path := range outermost(policy.existing(policy.Hide)) {
		hide(path)
	}
	return out
}

// protected lists existing protected paths, and the directories above them, which must
// not be moved away, outer ones first.
func (policy *Policy) protected() (readonly, pinned []string) {
	roots := policy.existing(policy.Write)
	for _, path := range outermost(policy.existing(policy.guarded())) {
		if !slices.Contains(roots, path) && slices.ContainsFunc(roots, func(root string) bool { return below(path, root) }) {
			readonly = append(readonly, path)
		}
	}
	for _, path := range readonly {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			inside := slices.ContainsFunc(roots, func(root string) bool { return dir != root && below(dir, root) })
			if !inside {
				break
			}
			pinned = append(pinned, dir)
		}
	}
	slices.Sort(pinned)
	return readonly, slices.Compact(pinned)
}

// existing returns the paths that exist, with links resolved.
func (policy *Policy) existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if real := policy.realOf(path, realPath); real != "" {
			out = append(out, real)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// outermost leaves out what lies in another of the sorted paths.
func outermost(paths []string) []string {
	var out []string
	for _, path := range paths {
		if !slices.ContainsFunc(out, func(dir string) bool { return below(path, dir) }) {
			out = append(out, path)
		}
	}
	return out
}

// mounts adds the steps that build the process's own view of the files. Terminal is the
// path of its terminal, if it has one.
func (policy *Policy) mounts(p *program, rules *ruleset, terminal string) {
	p.add("make a mount namespace", unix.SYS_UNSHARE, unix.CLONE_NEWNS)
	p.add("keep mounts apart", unix.SYS_MOUNT, p.str("none"), p.str("/"), 0, unix.MS_REC|unix.MS_SLAVE, 0)
	p.add("mount /proc", unix.SYS_MOUNT, p.str("proc"), p.str("/proc"), p.str("proc"), unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, 0)
	p.ownDevices(rules, terminal)
	for _, o := range policy.Overlays {
		o.mount(p)
		if rules != nil && slices.ContainsFunc(policy.existing(policy.Write), func(dir string) bool { return below(o.Dir, dir) }) {
			rules.allowLater(p, o.Dir)
		}
	}
	readonly, pinned := policy.protected()
	for _, dir := range pinned {
		p.add("bind "+dir, unix.SYS_MOUNT, p.str(dir), p.str(dir), 0, unix.MS_BIND|unix.MS_REC, 0).skip = 0
	}
	for _, path := range readonly {
		p.lay(path, path, unix.MOUNT_ATTR_RDONLY)
	}
	empty := ""
	for _, path := range policy.hidden() {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case !info.IsDir():
			p.lay(os.DevNull, path, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_RDONLY)
		case empty == "":
			empty = path
			p.add("hide "+path, unix.SYS_MOUNT, p.str("none"), p.str(path), p.str("tmpfs"),
				unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, p.str("size=4k,nr_inodes=1,mode=000"))
		default:
			p.bind(empty, path, 0)
		}
	}
}

// ownDevices gives the process terminals and shared memory of its own. Its own terminal is
// found as /dev/console, where programs that look for its name find it.
func (p *program) ownDevices(rules *ruleset, terminal string) {
	if terminal != "" {
		rules.allowFileLater(p, terminal)
		p.bind(terminal, "/dev/console", 0)
	}
	for _, own := range []struct {
		dir, kind, options string
		flags              uintptr
	}{
		{"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620", unix.MS_NOSUID | unix.MS_NOEXEC},
		{"/dev/shm", "tmpfs", "mode=1777", unix.MS_NOSUID | unix.MS_NODEV},
	} {
		if _, err := os.Lstat(own.dir); err != nil {
			continue
		}
		p.add("mount "+own.dir, unix.SYS_MOUNT, p.str(own.kind), p.str(own.dir), p.str(own.kind), own.flags, p.str(own.options))
		if rules != nil {
			rules.allowLater(p, own.dir)
		}
	}
}

// bind mounts a file or directory over another. If it no longer exists by then, it
// is skipped along with the following steps.
func (p *program) bind(from, to string, skip int) {
	p.add("bind "+to, unix.SYS_MOUNT, p.str(from), p.str(to), 0, unix.MS_BIND, 0).skip = skip
}

// lay is bind with restrictions.
func (p *program) lay(from, path string, attrs uint64) {
	p.bind(from, path, 1)
	attr := &unix.MountAttr{Attr_set: attrs}
	dir := -1 // the path is absolute
	p.add("protect "+path, unix.SYS_MOUNT_SETATTR, uintptr(dir), p.str(path), 0, pointer(p, attr), unsafe.Sizeof(*attr))
}

// identity turns a map of user ids into one of the same ids onto themselves.
func identity(text string) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return "", unix.EINVAL
		}
		out.WriteString(f[0] + " " + f[0] + " " + f[2] + "\n")
	}
	return out.String(), nil
}
