//go:build !linux && !darwin

package console

import "os"

// flushInput drops what was typed on a terminal and not read yet, where that can be
// done.
func flushInput(*os.File) {}
