package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"lathe/internal/sandbox/kerneltest"
)

// without is a program of scripts: it runs another one that lacks a feature of the kernel.
func without() {
	if err := kerneltest.Without(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
