// Package project knows the projects that lathe ran in (project.go), and makes,
// prepares and removes linked worktrees of a repository (worktree.go). What must not
// happen under a running turn asks the sessions first.
package project
