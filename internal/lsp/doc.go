// Package lsp runs language servers and asks them what files mean: what is wrong in them,
// what a name refers to, which edits a rename takes.
//
// A [Pool] owns the servers of a process. A [Servers] is one directory's use of them: it
// knows which server serves a file, starts it at first use, and reports what a change of
// files broke or fixed. Whatever a server does, or fails to do, costs a caller a bounded
// time and never an error that its edit would not have had without it.
//
// table.go lists the known servers and configured.go what a configuration makes of them;
// find.go looks for their roots and programs, and client.go and stream.go talk to one.
// document.go and change.go tell servers about files and collect what they find; query.go
// asks questions and edit.go carries out the edits they propose.
package lsp
