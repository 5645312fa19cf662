// Package lsp runs language servers and asks them what files mean: what is wrong in
// them, what a name refers to, which edits a rename takes.
//
// A [Pool] owns the servers of a process. A [Servers] is what one directory uses of
// them: it knows which server serves a file, starts it at first use, and tells what
// a change of files brought. Whatever a server does, or fails to do, costs a caller a
// bounded time and never an error that its edit would not have had without it.
package lsp
