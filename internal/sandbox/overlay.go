package sandbox

import "errors"

// ErrOverlay means that changes cannot be held back here. Nothing was run.
var ErrOverlay = errors.New("changes cannot be held back here")

// Overlay has what a process changes below a directory land in another one. The
// process and all that it starts see the changes; nobody else does. Who makes it removes
// what it holds.
type Overlay struct {
	Dir string // without links
	// Upper and Work are directories of one file system, outside Dir and of no use to
	// other processes. Upper has the changes when the process has ended, as overlayfs
	// keeps them.
	Upper, Work string
}
