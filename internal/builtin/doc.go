// Package builtin holds the tools that come with lathe. Each tool has a Go file
// and a description for the model in a Markdown file of the same name.
//
// Every file access goes the same way: the path is resolved, symbolic links
// included; a path outside the workspace asks for "external_directory"; then the
// tool's own permission is asked; then the tool acts.
//
// An [Env] is what the tools of one directory work with, and [New] makes the tools from
// it (builtin.go). The parts that tools share are files of their own: where a path leads
// and what may be read or written there (access.go, reading.go, protected.go), changing a
// file and asking for it (change.go), finding the text that an edit means (match.go and
// the files that it uses), running a command, its output and its effects (bash.go,
// bashtext.go, effects.go, network.go), jobs (background.go), and the addresses that a
// fetch may reach (fetchguard.go). foreign.go understands arguments meant for other
// agents' tools.
package builtin
