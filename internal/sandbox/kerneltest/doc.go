// Package kerneltest takes features away from a process, for tests of what lathe does on
// kernels and in containers that lack them.
package kerneltest

// Features that a process can be left without.
const (
	UserNamespaces = "user-namespaces"
	Landlock       = "landlock"
	Notification   = "notification" // of what seccomp was asked
)
