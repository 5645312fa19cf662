//go:build !linux || !(amd64 || arm64)

package kerneltest

import "errors"

// Without is not possible here.
func Without(string) error {
	return errors.New("features of the kernel cannot be taken away on this system")
}
