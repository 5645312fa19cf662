// Package tui is the screen: a person's view of sessions, and their way to steer
// them. It knows the engine only through [engine.Engine], which the process itself
// or a client of a server implements.
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
