//go:build !linux

package job

import (
	"context"
	"errors"

	"lathe/internal/shell"
)

// watch is never made: no job is kept on this system.
type watch struct{}

func watchDir(context.Context, string, shell.Handle) (*watch, error) {
	return nil, errors.ErrUnsupported
}

func (*watch) next() bool { return false }
func (*watch) close()     {}

// CanKeep says whether a job can outlive lathe on this system.
const CanKeep = false
