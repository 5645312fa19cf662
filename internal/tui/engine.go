// Package tui is the screen: a person's view of sessions, and their way to steer
// them. It knows the engine only through [Engine], which the process itself or a
// client of a server implements.
//
// # Shape
//
// An [App] owns a conversation, an input, a stack of sheets (dialogs, asks) and a
// status line. Each of them handles its own keys and draws its own lines. The
// App routes messages between them and never waits: everything that may take time
// runs as a command and comes back as a message.
//
// Events of the engine are collected and applied at most 30 times a second.
// What is finished is drawn once and kept; only the open part is drawn anew.
// Nothing ticks while nothing runs.
package tui

import (
	"context"
	"iter"

	"lathe"
	"lathe/internal/tui/edit"
)

// Engine is what the screen works with. Its methods may be called concurrently.
type Engine interface {
	Sessions
	Turns
	Asks
	Catalog
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
	// Events yields what happens from now on; an error ends it.
	Events(ctx context.Context) iter.Seq2[lathe.Envelope, error]
}

// Asks answers what the engine wants to know.
type Asks interface {
	Waiting(ctx context.Context) ([]lathe.Ask, []lathe.QuestionAsk, error)
	Reply(ctx context.Context, a lathe.Ask, r lathe.Reply) error
	Answer(ctx context.Context, id lathe.AskID, answers [][]string) error
	Dismiss(ctx context.Context, id lathe.AskID) error
}

// Catalog tells what there is to choose from.
type Catalog interface {
	Models(ctx context.Context) ([]Model, error)
	Agents(ctx context.Context) ([]Agent, error)
	Commands(ctx context.Context) ([]Command, error)
	// Files returns the files and directories of the project that match best.
	Files(ctx context.Context, query string, limit int) ([]string, error)
}

// Reverter is an Engine that can take messages and their changes back.
type Reverter interface {
	// Revert goes back to before a user message.
	Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID) error
	// Unrevert takes all of that back.
	Unrevert(ctx context.Context, id lathe.SessionID) error
}

// Compacter is an Engine that compacts on demand.
type Compacter interface {
	Compact(ctx context.Context, id lathe.SessionID, model lathe.ModelRef) error
}

// Forker is an Engine that copies a session, up to a message if one is named.
type Forker interface {
	Fork(ctx context.Context, id lathe.SessionID, upTo lathe.MessageID) (lathe.Session, error)
}

// Connector is an Engine that stores keys of providers.
type Connector interface {
	Providers(ctx context.Context) ([]Provider, error)
	// Connect stores a key; models of the provider can be chosen afterwards.
	Connect(ctx context.Context, provider, key string) error
}

// Provider is a provider that can be connected.
type Provider struct {
	ID, Name  string
	Connected bool
}

// Prompt is what the person sends. The engine finds what it names with "@".
type Prompt struct {
	Text  string
	Agent string
	Model lathe.ModelRef
	Files []File // pictures that were pasted or dropped
}

// File is something that goes with a prompt.
type File = edit.File

// Model is a model to choose.
type Model struct {
	Ref      lathe.ModelRef
	Name     string
	Provider string
	Context  int // tokens; 0: unknown
	Price    lathe.Prices
	Variants []string
	Default  bool
}

// Agent is an agent to choose. Subagents cannot be chosen, only mentioned.
type Agent struct {
	Name, Description string
	Subagent          bool
	Model             lathe.ModelRef
}

// Command is a command that the engine expands.
type Command struct{ Name, Description string }
