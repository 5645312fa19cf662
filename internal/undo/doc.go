// Package undo knows what the steps of a session did to files, and takes it back.
//
// A turn records the tree before and after each step (changes.go); whose a change is
// where several sessions work in one worktree is told in whose.go. From these records
// come the summary of a turn and of the session (summary.go), a revert and its way
// back (revert.go), and a fork that takes the files along (fork.go). Where nothing
// could be recorded, unrecorded.go says so.
//
// A [Changes] belongs to one session. Its caller sees to it that no turn runs where
// a method asks for that.
package undo
