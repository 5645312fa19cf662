package transcript

import (
	"bytes"
	"encoding/json"
	"io"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/printable"
)

// Write writes a session down as it is asked for. JSON is complete and can be imported
// again; the other formats are for people, and what looks like a secret is taken out
// of them.
func Write(w io.Writer, s Session, o api.Export) error {
	switch {
	case o.Sanitize:
		s = Sanitized(s)
	case o.Format != api.FormatJSON:
		s = Redacted(s)
	}
	switch o.Format {
	case api.FormatJSON:
		return writeJSON(w, s)
	case api.FormatMarkdown:
		return Markdown(w, s)
	case api.FormatHTML:
		return HTML(w, s)
	}
	return lathe.Errorf(lathe.CodeInvalid, "", "--format %q is not json, markdown or html", o.Format)
}

func writeJSON(w io.Writer, s Session) error {
	raw, err := wire.Marshal(map[string]any{"info": wire.EncodeSession(s.Info), "messages": wire.EncodeMessages(s.Messages)})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, printable.JSON(raw), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}
