//go:build amd64 || arm64

package sandbox

import (
	"strings"

	"golang.org/x/sys/unix"
)

// overlayStep begins the name of the step that lays an overlay.
const overlayStep = "hold back changes of "

// overlayOptions keep what lies in Upper readable without the file system: with the
// attributes of ordinary users no directory is told by a reference, no file by its
// attributes alone.
const overlayOptions = "userxattr,index=off,xino=off"

func (o Overlay) mount(p *program) {
	escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace
	options := "lowerdir=" + escape(o.Dir) + ",upperdir=" + escape(o.Upper) + ",workdir=" + escape(o.Work) + "," + overlayOptions
	p.add(overlayStep+o.Dir, unix.SYS_MOUNT, p.str("overlay"), p.str(o.Dir), p.str("overlay"), unix.MS_NOSUID|unix.MS_NODEV, p.str(options))
}

// allowLater adds the steps that let a directory be changed which is something else by
// then than it is now. Rules of Landlock are about what lies at a path, not about paths.
func (r *ruleset) allowLater(p *program, dir string) {
	// struct landlock_path_beneath_attr is packed: the rights, and 32 bits of descriptor
	attr := &[2]uintptr{rightsOfDirs}
	at := unix.AT_FDCWD
	p.add("open "+dir, unix.SYS_OPENAT, uintptr(at), p.str(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC).save = &attr[1]
	p.add("allow changes of "+dir, unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, pointer(p, attr), 0)
}
