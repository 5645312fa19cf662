package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/opencode/wire"
)

// Limits of bodies. Prompts carry attachments.
const (
	bodyLimit   = 1 << 20
	promptLimit = 64 << 20
	maxPath     = 4096
)

// errNotJSON rejects a body that is not declared as JSON. A web page can send
// other kinds without the browser asking first.
var errNotJSON = errors.New("the body is not declared as application/json")

// bytes returns the body, which is JSON and says so. An absent body is nil.
func (c *call) bytes(limit int64) ([]byte, error) {
	body, received := c.s.uploads.Receive(c.w, c.r, limit, c.s.patience)
	data, err := io.ReadAll(body)
	received()
	if err == nil { // otherwise its rest must not be waited for
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	}
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, err
		}
		return nil, badPayload("the body could not be read")
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return nil, badPayload("%v", errNotJSON)
	}
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, badPayload("Malformed JSON in request body")
	}
	return data, nil
}

// decode reads the body into v. An absent body leaves v alone.
func (c *call) decode(v any) error {
	data, err := c.bytes(bodyLimit)
	if err != nil || data == nil {
		return err
	}
	return decodeJSON(data, v)
}

// need is decode for routes that cannot do without a body.
func (c *call) need(v any) error {
	data, err := c.bytes(bodyLimit)
	if err != nil {
		return err
	}
	if data == nil {
		return badPayload("the body is missing")
	}
	return decodeJSON(data, v)
}

func decodeJSON(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		e := &invalid{where: "Payload", msg: "expected " + kindName(wrong.Type.String()) + ", received " + wrong.Value}
		if wrong.Field != "" {
			for _, name := range strings.Split(wrong.Field, ".") {
				e.path = append(e.path, strings.ToLower(name[:1])+name[1:]) // of a field in Go
			}
		}
		return e
	}
	if err != nil {
		return badPayload("%v", err)
	}
	return nil
}

func kindName(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"):
		return "array"
	case strings.HasPrefix(t, "map["), strings.Contains(t, "struct"):
		return "object"
	case strings.Contains(t, "int"), strings.Contains(t, "float"):
		return "number"
	case strings.Contains(t, "bool"):
		return "boolean"
	}
	return "string"
}

// missing returns an error when one of the named values is empty.
func missing(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return &invalid{where: "Payload", path: []string{pairs[i]}, msg: "expected a string that is not empty"}
		}
	}
	return nil
}

// id returns an identifier from the path.
func (c *call) id(name, prefix string) (string, error) {
	v := c.r.PathValue(name)
	if err := lathe.CheckID(v, prefix); err != nil {
		return "", &invalid{where: "Params", path: []string{name}, msg: "must start with " + strconv.Quote(prefix) + " and be an identifier"}
	}
	return v, nil
}

func (c *call) sessionID() (lathe.SessionID, error) {
	id, err := c.id("sessionID", lathe.PrefixSession)
	return lathe.SessionID(id), err
}

// session returns the session that the path names.
func (c *call) session() (lathe.Session, error) {
	id, err := c.sessionID()
	if err != nil {
		return lathe.Session{}, err
	}
	return c.s.opts.Service.Get(c.ctx(), id)
}

func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// number returns a number of the query; 0 when it is absent.
func (c *call) number(name string) (int64, error) {
	text := c.query(name)
	if text == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f < 1<<53) {
		return 0, badQuery(name, "expected a number from 0 on")
	}
	return int64(f), nil
}

// limit returns how many items the query asks for, most where it names no number or
// a larger one.
func (c *call) limit(most int64) (int64, error) {
	n, err := c.number("limit")
	if n == 0 || n > most {
		n = most
	}
	return n, err
}

// dir returns the directory that the request is about: the query's, the
// header's, the server's own.
func (c *call) dir() (string, error) {
	dir := cmp.Or(c.query("directory"), c.query("location[directory]"))
	if dir == "" {
		dir = c.r.Header.Get("X-Opencode-Directory")
		if plain, err := url.PathUnescape(dir); err == nil {
			dir = plain
		}
	}
	if dir == "" {
		return c.s.opts.Dir, c.mayUse(c.s.opts.Dir)
	}
	return c.place(dir)
}

// place checks a directory that a request names.
func (c *call) place(dir string) (string, error) {
	if len(dir) > maxPath || strings.ContainsRune(dir, 0) || !utf8.ValidString(dir) || !filepath.IsAbs(dir) {
		return "", badQuery("directory", "expected an absolute path")
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); (err != nil || !info.IsDir()) && !c.offered(dir) {
		return "", badQuery("directory", "there is no such directory")
	}
	return dir, c.mayUse(dir)
}

// instance returns the instance of the request's directory.
func (c *call) instance() (*instance.Instance, string, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, "", err
	}
	inst, err := c.s.opts.Service.Instance(context.WithoutCancel(c.ctx()), dir)
	return inst, dir, err
}

// cursor names a message; older ones follow it.
type cursor struct {
	ID   lathe.MessageID `json:"id"`
	Time int64           `json:"time"`
}

func (p cursor) String() string {
	raw, err := wire.Marshal(p)
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func parseCursor(text string) (cursor, error) {
	var p cursor
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err == nil {
		err = lathe.CheckID(string(p.ID), lathe.PrefixMessage)
	}
	if err != nil {
		return p, badQuery("before", "expected the cursor of an earlier answer")
	}
	return p, nil
}
