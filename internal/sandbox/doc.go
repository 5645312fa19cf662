// Package sandbox bounds what a process can do, whatever its command line says: which
// files it changes, which it reads, whom it reaches and signals.
//
// A [Policy] says what is allowed. A [Box] starts processes that are bound by one, as
// far as the system can: see [Level]. On Linux a process is started with the rules of
// Landlock, with a seccomp filter, and where user namespaces may be made in a process,
// mount, and IPC namespace, and optionally a network of its own. There is no helper
// program on the way: a new process makes the needed system calls between its start
// and the execution of what it is to run.
package sandbox
