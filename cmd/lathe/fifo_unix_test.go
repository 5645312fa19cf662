//go:build unix

package main

import (
	"syscall"
	"testing"
)

func makeFIFO(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
