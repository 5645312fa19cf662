// Package project knows the projects that lathe ran in (project.go), and makes,
// prepares and removes linked worktrees of a repository (worktree.go). Whatever must
// not happen during a turn asks the sessions first.
package project
