package store

import (
	"context"

	"lathe"
)

// Streams keeps what an open part shows while it grows, without the cost of a
// transaction. What was written survives the process; like any write, the last
// moments may be lost if the machine goes down. Only one goroutine at a time
// writes to a part.
type Streams interface {
	// AppendText appends to the text of an open text or reasoning part that
	// already has offset bytes. Text that was stored before is not stored again,
	// so a call may be repeated; a gap is an error.
	AppendText(ctx context.Context, part lathe.PartID, offset int64, text string) error
	// SaveProgress stores the title and metadata of a stored, running tool call. A
	// call that is no longer running is not stored.
	SaveProgress(ctx context.Context, p *lathe.Part) error
}

// Teller is what the [Streams] of a store with a [Journal] can do, too.
type Teller interface {
	// TellText shows other servers text of an open part that begins at an offset and is not
	// stored yet, so that they need not wait until it is. It may be lost: what is
	// appended later says it again. Text may overlap with what was told before.
	TellText(ctx context.Context, part lathe.PartID, offset int64, text string)
}
