package api

import "lathe"

// Correction is a place in a session where the person corrected what was done.
type Correction struct {
	Session lathe.SessionID `json:"sessionID"`
	Title   string          `json:"title"`
	Message lathe.MessageID `json:"messageID"`
	Time    int64           `json:"time"`   // milliseconds since 1970
	Kind    string          `json:"kind"`   // said, refused or undone
	Before  string          `json:"before"` // the end of what was done or asked before, shortened
	Text    string          `json:"text"`   // the person's words, shortened
}

// Corrections are what there is to learn from in a project, the newest first.
type Corrections struct {
	File  string       `json:"file"` // where instructions for the project are written
	Found []Correction `json:"corrections"`
}

// Lesson is a line that is proposed for a project's instructions, and where it comes from.
type Lesson struct {
	Line string       `json:"line"`
	From []Correction `json:"from"`
}

// LessonRequest asks a model for lessons; an empty model is the small one of the newest session.
type LessonRequest struct {
	Model string `json:"model,omitempty"`
}

// Lessons are what a model proposes. Nothing of it is written.
type Lessons struct {
	File     string      `json:"file"`
	Model    string      `json:"model"`  // empty: none was asked, since there is no correction
	Looked   int         `json:"looked"` // how many corrections the model saw
	Lessons  []Lesson    `json:"lessons"`
	Cost     lathe.Money `json:"cost"`
	Unpriced bool        `json:"unpriced,omitempty"` // the cost is not known
}
