package wire

import "lathe"

// OwnHit is a part of a message that holds the words looked for.
type OwnHit struct {
	SessionID lathe.SessionID `json:"sessionID"`
	MessageID lathe.MessageID `json:"messageID"`
	Title     string          `json:"title"` // of the session
	Updated   int64           `json:"updated"`
	Role      string          `json:"role"`
	Kind      string          `json:"kind"`
	Text      string          `json:"text"` // around the first word, on one line
}
