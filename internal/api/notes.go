package api

import "lathe"

// Notes are what a person noted about a session, and what is to be known when it is opened.
type Notes struct {
	Bookmarks []Bookmark `json:"bookmarks"` // oldest message first
	Looked    []string   `json:"looked"`    // changes that were looked at, by a name of the face's own
	// UndoOff says why changes of the newest prompts cannot be undone; empty if they can.
	UndoOff string `json:"undoOff,omitempty"`
}

// Bookmark is a message that a person wants to find again.
type Bookmark struct {
	Message lathe.MessageID `json:"message"`
	Text    string          `json:"text"` // how it begins, or what the person called it
	Created int64           `json:"created,omitempty"`
}

// NotesChange changes notes; what is not named stays.
type NotesChange struct {
	Mark   *Bookmark       `json:"mark,omitempty"`   // set, or call it something else
	Unmark lathe.MessageID `json:"unmark,omitempty"` // remove a bookmark
	Look   []string        `json:"look,omitempty"`   // changes that were looked at
	Unlook []string        `json:"unlook,omitempty"`
}
