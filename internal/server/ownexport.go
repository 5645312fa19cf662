package server

import (
	"bytes"
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/server/gate"
	"lathe/internal/session"
	"lathe/internal/transcript"
)

var exportTypes = map[string]string{
	api.FormatJSON: "application/json", api.FormatMarkdown: "text/markdown; charset=utf-8", api.FormatHTML: "text/html; charset=utf-8",
}

// export answers a session as a file. It is written whole before it is sent: a client
// either gets all of it or an error.
func (c lives) export() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	o := api.Export{Format: c.query("format"), Sanitize: c.query("sanitize") == "true", Reverted: c.query("reverted") == "true"}
	if exportTypes[o.Format] == "" {
		return nil, badQuery("format", "%q is not json, markdown or html", clip(o.Format, 80))
	}
	t, err := exported(c.ctx(), c.s.opts.Service, sess, o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := transcript.Write(&b, t, o); err != nil {
		return nil, err
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(gate.WriteUntil(b.Len()))
	c.w.Header().Set("Content-Type", exportTypes[o.Format])
	_, err = b.WriteTo(c.w)
	return done{}, err
}

// exported returns what an export of a session holds: what is not reverted, or
// everything if asked for. Formats for people leave out what calls printed from files
// that may not be read without an ask.
func exported(ctx context.Context, svc *session.Service, sess lathe.Session, o api.Export) (transcript.Session, error) {
	if o.Format == api.FormatJSON {
		messages, err := svc.Messages(ctx, sess.ID, 0)
		if !o.Reverted {
			messages, _ = sess.Revert.Standing(messages)
			sess.Revert = nil
		}
		return transcript.Session{Info: sess, Messages: messages}, err
	}
	if o.Reverted {
		sess.Revert = nil // nothing of it is hidden
	}
	st, err := svc.Diffs.Standing(ctx, sess)
	return transcript.Session{Info: sess, Messages: svc.Instances.Shown(ctx, sess.Directory, st.Messages), Diffs: st.Diffs, Hidden: st.Hidden}, err
}
