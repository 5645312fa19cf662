package store

import (
	"context"

	"lathe"
)

// Streams keeps what an open part shows while it grows. It costs no transaction.
// What was kept survives the process; like any write, its last moments may be lost
// with the machine. One goroutine at a time writes to a part.
type Streams interface {
	// AppendText appends to the text of an open text or reasoning part, of which
	// offset bytes are there already. Text that was stored before is not stored
	// again, so a call may be repeated; a gap is an error.
	AppendText(ctx context.Context, part lathe.PartID, offset int64, text string) error
	// SaveProgress keeps the title and metadata of a stored tool call that runs. A
	// call that does not run any more is not stored.
	SaveProgress(ctx context.Context, p *lathe.Part) error
}
