// Package session is the run of conversations: it takes prompts in, runs one turn at a
// time for each session, stores and publishes what happens, and answers questions about
// the past. Everything that a face (the command line, the terminal screen, the server)
// can do goes through a [Service].
//
// Each session that is used has a runner (runner.go). A prompt becomes a message
// (prompt.go, commandprompt.go, refs.go, parts.go) and is submitted; the runner's work
// (work.go) is a goroutine that runs turns until no prompt waits, and a [Run] is what
// becomes of one prompt (run.go). A turn sees its session as host (host.go, compact.go)
// and writes through the recorder (record.go). Subagents are sessions below the one that
// started them (task.go, sessions.go); a fork begins with the messages of another
// (fork.go). What a crash or a full disk left open is closed in recover.go and owed.go.
//
// What belongs to a directory, to undo, to the window, to sharing and to projects lives
// in packages of its own, which a Service puts together. Everything apart from the run
// of a conversation is offered by small services: [Questions], [Importer], [Editor],
// [Undo], [Diffs].
package session
