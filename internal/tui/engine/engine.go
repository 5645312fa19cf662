// Package engine is what a screen works with: sessions and their turns, what waits
// for an answer, and what there is to choose from. The process itself or a client
// of a server implements it. What an engine can do beyond that it says once, as
// [Capabilities].
package engine

import (
	"context"
	"iter"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/edit"
)

// Update is an event, or a change of the connection to the engine.
type Update struct {
	lathe.Envelope
	Link *Link // nil for an event
}

// Link is how the screen is connected to the engine. The zero value means not yet connected.
type Link struct {
	Up    bool
	Lost  bool      // with Up: events were missed; what was read is old
	Err   error     // why it is not up
	Retry time.Time // when it is tried again
	// Server is where it leads, or is tried first; "" where there is one server only.
	Server string
}

// Engine is what the screen works with. Its methods may be called concurrently.
type Engine interface {
	Sessions
	Turns
	Asks
	Catalog
	// Can says what else the engine can do. It does not change.
	Can() Capabilities
}

// Sessions lists, reads and changes sessions.
type Sessions interface {
	// List returns the sessions of this directory whose title has the words,
	// newest first; without words all of them.
	List(ctx context.Context, search string) ([]lathe.Session, error)
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Create(ctx context.Context) (lathe.Session, error)
	Rename(ctx context.Context, id lathe.SessionID, title string) error
	Delete(ctx context.Context, id lathe.SessionID) error
	// Children returns the sessions that subagents of a session work in.
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
	Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error)
	// History returns at most limit messages before the one with the sequence
	// number, or the newest ones for 0; oldest first.
	History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error)
}

// Turns starts and stops what sessions do.
type Turns interface {
	Prompt(ctx context.Context, id lathe.SessionID, p Prompt) error
	Command(ctx context.Context, id lathe.SessionID, name, args string, p Prompt) error
	Shell(ctx context.Context, id lathe.SessionID, command string, p Prompt) error
	// Abort stops the turn of a session and returns when that is recorded.
	Abort(ctx context.Context, id lathe.SessionID) error
	Status(ctx context.Context, id lathe.SessionID) lathe.Status
	// Follow yields what happens from now on, and changes of the connection to the
	// engine. It reconnects by itself; if it ends nevertheless, it may be called
	// again.
	Follow(ctx context.Context) iter.Seq2[Update, error]
}

// Asks answers what the engine wants to know.
type Asks interface {
	Waiting(ctx context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error)
	Reply(ctx context.Context, a lathe.Ask, r lathe.Reply) error
	Answer(ctx context.Context, id lathe.AskID, answers [][]string) error
	Dismiss(ctx context.Context, id lathe.AskID) error
}

// Catalog says what there is to choose from.
type Catalog interface {
	Models(ctx context.Context) ([]api.Model, error)
	Agents(ctx context.Context) ([]api.Agent, error)
	Commands(ctx context.Context) ([]api.Command, error)
	// Files returns the files and directories of the project that match best.
	Files(ctx context.Context, query string, limit int) ([]string, error)
}

// Prompt is what the person sends. The engine finds what it names with "@".
type Prompt struct {
	Text  string
	Agent string
	Model lathe.ModelRef
	Files []File // pictures that were pasted or dropped
	// Pasted says which stretches of the text were pasted, as [from, to] in bytes.
	Pasted [][2]int
}

// File is something that goes with a prompt.
type File = edit.File
