//go:build amd64 || arm64

package sandbox

import (
	"strings"

	"golang.org/x/sys/unix"
)

// overlayStep begins the name of the step that lays an overlay.
const overlayStep = "hold back changes of "

// overlayOptions keep Upper readable without overlayfs: no directory or file in it
// is only a reference or an attribute.
const overlayOptions = "userxattr,index=off,xino=off"

func (o Overlay) mount(p *program) {
	escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace
	options := "lowerdir=" + escape(o.Dir) + ",upperdir=" + escape(o.Upper) + ",workdir=" + escape(o.Work) + "," + overlayOptions
	p.add(overlayStep+o.Dir, unix.SYS_MOUNT, p.str("overlay"), p.str(o.Dir), p.str("overlay"), unix.MS_NOSUID|unix.MS_NODEV, p.str(options))
}

// allowLater adds the steps that allow changes in a directory that will have been
// replaced by then, because Landlock's rules apply to the file at a path, not to the
// path.
func (r *ruleset) allowLater(p *program, dir string) {
	r.later(p, dir, rightsOfDirs, unix.O_DIRECTORY)
}

// allowFileLater is the same for a file.
func (r *ruleset) allowFileLater(p *program, file string) { r.later(p, file, rightsOfFiles, 0) }

func (r *ruleset) later(p *program, dir string, rights, flags uintptr) {
	// struct landlock_path_beneath_attr is packed: the rights, and 32 bits of descriptor
	attr := &[2]uintptr{rights}
	at := unix.AT_FDCWD
	p.add("open "+dir, unix.SYS_OPENAT, uintptr(at), p.str(dir), unix.O_PATH|unix.O_CLOEXEC|flags).save = &attr[1]
	p.add("allow changes of "+dir, unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, pointer(p, attr), 0)
}
