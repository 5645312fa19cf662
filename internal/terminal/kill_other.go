//go:build !unix

package terminal

import "os/exec"

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
