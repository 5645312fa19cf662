//go:build !unix

package tui

const canSuspend = false

func stopProcess() {}
