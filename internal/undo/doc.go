// Package undo knows what the steps of a session did to files, and undoes it.
//
// A turn records the tree before and after each step (changes.go); whose.go decides
// whose a change is if several sessions work in one worktree. From these records come
// the summary of a turn and of the session (summary.go), a revert and its way back
// (revert.go), and a fork that takes the files along (fork.go). If nothing could be
// recorded, unrecorded.go says so.
//
// A [Changes] belongs to one session. Its caller makes sure that no turn runs where a
// method requires that.
package undo
