package sandbox

import "errors"

// ErrOverlay means that changes cannot be held back here. Nothing was run.
var ErrOverlay = errors.New("changes cannot be held back here")

// Overlay redirects what a process changes below a directory to another one. The process
// and everything it starts see the changes; nobody else does. Whoever makes it removes
// its content.
type Overlay struct {
	Dir string // without links
	// Upper and Work are directories of one file system, outside Dir and not used by
	// other processes. Upper has the changes when the process has ended, as overlayfs
	// keeps them.
	Upper, Work string
}
