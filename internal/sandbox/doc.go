// Package sandbox limits what a process can do, whatever its command line says: which
// files it can change and read, and whom it can reach and signal.
//
// A [Policy] says what is allowed. A [Box] starts processes that are confined by one,
// as far as the system allows: see [Level]. On Linux a process is started with the
// rules of Landlock, with a seccomp filter, and, where user namespaces are allowed, in
// process, mount and IPC namespaces and optionally a network of its own. No helper
// program is involved: a new process makes the necessary system calls between its
// start and the execution of its program.
//
// policy.go and places.go say what is allowed, and box_linux.go starts processes. Each layer
// has a file: landlock_linux.go (files and signals), mounts_linux.go (the process's own view
// of the files), seccomp_linux.go (system calls), overlay_linux.go (changes that are held
// back) and net_linux.go with ports_linux.go (a network of its own). fork_linux.go makes the
// system calls in the new process. notify_linux.go learns what was refused,
// lasting_linux.go and nested_linux.go refuse what the kernel cannot, and guard.go restores what the kernel could not protect; gitconfig.go knows which settings of git are
// harmless. seatbelt.go is the same policy for macOS.
package sandbox
