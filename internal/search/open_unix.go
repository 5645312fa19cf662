//go:build unix

package search

import "syscall"

// openFlags keep an open from blocking on a pipe.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
