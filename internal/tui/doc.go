// Package tui is the screen: a person's view of sessions, and their way to steer them.
// It knows the engine only through [engine.Engine], which the process itself or a client
// of a server implements.
//
// # Shape
//
// Each part of the screen is a room, a package below this one: the conversation (chat),
// the input (compose), asks, sessions and so on. A room has its own state, handles its
// own keys and draws its own lines. What it wants done beyond that it returns as a
// message. An [App] puts the rooms together: it routes keys and events to them, does
// what they want in one place (apply), and never waits, since everything that may take
// time runs as a command and comes back as a message.
//
// Of the App, the view is what is on screen and draws it; the visit is the session on
// screen and reads and sends through the engine; the keyboard and the pointer route what
// the person does; the sheets know what waits for an answer. What can be done by name is
// a function in the table of commands.
//
// Events of the engine are collected and applied at most 30 times a second. What is
// finished is drawn once and kept; only the open part is drawn again. Nothing ticks
// while nothing runs.
package tui
