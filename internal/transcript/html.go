package transcript

import (
	"io"

	"lathe/internal/transcript/page"
)

// HTML writes the session as one page that opens offline and holds no script.
func HTML(w io.Writer, s Session) error {
	return page.Write(w, page.Session{Info: s.Info, Messages: s.Messages, Diffs: s.Diffs, Note: s.hiddenNote()})
}
