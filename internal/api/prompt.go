package api

import "lathe"

// Prompt asks for a turn that answers the parts, or a command if one is named, or runs a shell
// command of the person's if one is given.
type Prompt struct {
	MessageID lathe.MessageID // empty: the engine chooses
	Model     lathe.ModelRef
	Agent     string
	NoReply   bool // only store it; nothing answers
	System    string
	Tools     map[string]bool
	Parts     []lathe.PartBody
	PartIDs   []lathe.PartID // chosen by the client for all parts, in order; nil: none

	Refs               bool // attach what the texts name with "@"
	Limits             Limits
	Rules              []lathe.Rule // for this turn only
	Command, Arguments string
	Shell              string
}

// Limits bound a turn. A zero value sets no limit.
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
	Running bool // it has not ended yet; no other field counts
}
