package api

import "lathe"

// Prompt asks for a turn: of what the parts say, of a command when that is named, or
// of a shell command of the person's when there is one.
type Prompt struct {
	MessageID lathe.MessageID // empty: the engine chooses
	Model     lathe.ModelRef
	Agent     string
	NoReply   bool // it is stored, and nothing answers
	System    string
	Tools     map[string]bool
	Parts     []lathe.PartBody
	PartIDs   []lathe.PartID // that the client chose, of all parts in order; nil: none

	Refs               bool // attach what the texts name with "@"
	Limits             Limits
	Rules              []lathe.Rule // for this turn alone
	Command, Arguments string
	Shell              string
}

// Limits bound a turn. Zero values are none.
type Limits struct {
	Steps  int         `json:"steps,omitempty"`
	Cost   lathe.Money `json:"cost,omitempty"` // in units of [lathe.Money]
	Tokens int64       `json:"tokens,omitempty"`
	Time   int64       `json:"time,omitempty"` // ms
}

// Outcome is how a turn ended.
type Outcome struct {
	Last    *lathe.Message
	Failure lathe.Failure
	Blocked bool
	Steps   int
	Cost    lathe.Money
	Tokens  lathe.Tokens
	Running bool // it has not ended yet; nothing else counts
}
