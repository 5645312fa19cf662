package shell

// Holder says who has a socket open, as far as that can be seen while commands run.
type Holder int

const (
	HeldUnasked   Holder = iota // no command runs; nothing was looked at
	HeldByCommand               // a process of a running command
	HeldByOther                 // a process that no running command started
	// HeldUnseen: nobody was found. The holder cannot be inspected, or moved or
	// ended during the search; in the latter case asking again helps.
	HeldUnseen
	// HeldHidden is HeldUnseen while some process of a command does not show what
	// it has open, because it is ending or does not permit it, or while commands'
	// processes came and went during the search, so that it proves nothing.
	HeldHidden
)
