// Package sandbox limits what a process can do, whatever its command line says: which
// files it can change and read, and whom it can reach and signal.
//
// A [Policy] says what is allowed. A [Box] starts processes that are confined by one,
// as far as the system allows: see [Level]. On Linux a process is started with the
// rules of Landlock, with a seccomp filter, and, where user namespaces are allowed, in
// process, mount and IPC namespaces and optionally a network of its own. No helper
// program is involved: a new process makes the necessary system calls between its
// start and the execution of its program.
package sandbox
