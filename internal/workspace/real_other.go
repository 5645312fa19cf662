//go:build !linux

package workspace

import "os"

func openReal(real string, flags int) (*os.File, error) {
	f, err := checkReal(real, flags)
	return f, moved(real, err)
}

func openRoot(real string) (*os.Root, error) { return checkRoot(real) }
