package shell

// Holder says who has a socket open, as far as that can be seen while commands run.
type Holder int

const (
	HeldUnasked   Holder = iota // no command runs; nothing was looked at
	HeldByCommand               // a process of a running command
	HeldByOther                 // a process that no running command started
	// HeldUnseen: nobody was found. Who holds it shows nothing of itself, or moved
	// or ended during the search; asking again helps with the latter.
	HeldUnseen
	// HeldHidden is HeldUnseen while a process of a command does not show what it
	// has open, since it is ending or forbids to look, or while commands' processes
	// came and went during the search, so that it proves nothing.
	HeldHidden
)
