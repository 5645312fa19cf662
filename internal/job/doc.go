// Package job keeps the processes of sessions that live on: commands that were
// started in the background, that a person kept running, or that a command left
// behind.
//
// A [Manager] owns all jobs of a process. A [Job] belongs to a session and ends
// when that is deleted, when somebody stops it, or when lathe ends. What it prints
// goes to an [Output], which keeps the newest part in a bounded file and is read by
// position, so that any number of readers follow it without a copy of their own.
// The processes themselves are those of package shell, with its marks and promises.
package job
