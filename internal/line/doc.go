// Package line carries a terminal from the process that runs it to a server that a client
// asked, in letters that the two send each other. Letters lie in a database for a moment, so
// what is typed and shown is sealed: the two agree on a key that is nowhere stored, and that no
// copy of the database tells later.
//
// A [Host] has the terminals; [Dial] attaches to one. The server asks, the host answers: what
// comes next is asked for once the client has taken what came before, so that neither end
// holds more than the terminal itself does.
package line

// letter is what a server asks of a host.
type letter struct {
	Do       string // attach, read, type or close
	Terminal string `json:",omitempty"` // to attach to
	Key      []byte `json:",omitempty"` // of the one who asks; to attach
	Line     string `json:",omitempty"` // all but attach
	Sealed   []byte `json:",omitempty"` // what is typed
}

// What a letter asks for.
const (
	attach = "attach"
	read   = "read"
	write  = "type"
	hangUp = "close"
)

// reply is what the host answers.
type reply struct {
	State  string
	Line   string `json:",omitempty"`
	Key    []byte `json:",omitempty"`
	Sealed []byte `json:",omitempty"` // what is shown
}

// States of a line.
const (
	open    = "open"
	ended   = "ended"   // the program has ended
	behind  = "behind"  // the terminal printed more than was taken
	leaving = "leaving" // the host stops, and its terminals with it
	unknown = "unknown" // no such terminal, or no such line
	full    = "full"    // too many lines are open
)
