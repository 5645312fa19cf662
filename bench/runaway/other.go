//go:build !linux

// Command runaway measures what a provider that never ends its answer costs in
// memory. It reads what the Linux kernel says of a process.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "runaway: only on Linux")
	os.Exit(1)
}
