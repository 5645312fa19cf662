//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"errors"
	"net"
	"os"
)

// Box would start confined processes; on this system there are none.
type Box struct{ opts Options }

// NewBox returns a box that cannot start anything.
func NewBox(o Options) *Box { return &Box{opts: o} }

// Start fails.
func (b *Box) Start(Process, Policy) (*Run, error) {
	return nil, errors.ErrUnsupported
}

// Level is [RulesOnly].
func (b *Box) Level() Level { return RulesOnly }

// HasNetwork is false.
func (b *Box) HasNetwork() bool { return false }

// Detect returns [RulesOnly].
func Detect() Level { return RulesOnly }

// Missing says why it is not more.
func Missing() string { return "this system is not supported" }

// Listen fails.
func (b *Box) Listen() (net.Listener, error) { return nil, errors.ErrUnsupported }

// Hold returns nil.
func (b *Box) Hold() *os.File { return nil }

// Close does nothing.
func (b *Box) Close() error { return nil }

// Attend has nothing to do on this system.
func Attend(*os.File, []*os.File, string) {}
