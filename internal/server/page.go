package server

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
	"lathe/web"
)

// page answers the web page: its files, which anybody may have who reaches the server,
// and the login that opens the interface to it.
type page struct{ *call }

const pageFiles = "/lathe/page/"

func pageRoutes() []route {
	return []route{
		{http.MethodGet, rootOnly, on(page.index), ""},
		{http.MethodGet, pageFiles + "{file}", on(page.file), ""},
		{http.MethodGet, "/lathe/login", on(page.state), ""},
		{http.MethodPost, "/lathe/login", on(page.logIn), ""},
		{http.MethodDelete, "/lathe/login", on(page.logOut), ""},
		{http.MethodGet, loginOIDC, on(oidcLogin.begin), ""},
		{http.MethodGet, loginOIDC + "/callback", on(oidcLogin.end), ""},
		{http.MethodGet, "/lathe/now", on(page.now), ""},
	}
}

// pageRequest says which requests need no password.
func pageRequest(r *http.Request) bool {
	switch {
	case r.URL.Path == "/lathe/login":
		return true
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	}
	return r.URL.Path == "/" || r.URL.Path == loginOIDC || isCallback(r) || strings.HasPrefix(r.URL.Path, pageFiles)
}

// pagePolicy lets the page load from this server and from nowhere else. Pictures may also be
// data: and blob: addresses. Styles that a script sets on an element are not covered by a policy.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

func (c page) index() (any, error) { return c.serve("index.html", "no-cache") }

// hashed are the names that hold a hash of the content.
var hashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9A-Z]{8}\.[a-z]+$`) })

// file answers one of the page's files. Browsers may keep those for good whose names change
// with their content.
func (c page) file() (any, error) {
	name, caching := c.r.PathValue("file"), "no-cache"
	if hashed().MatchString(name) {
		caching = "public, max-age=31536000, immutable"
	}
	return c.serve(name, caching)
}

func (c page) serve(name, caching string) (any, error) {
	file, err := web.Open(name)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeNotFound, "load the page again", "the page has no file %q", clip(name, 80))
	}
	data, encoding := file.Gzip(), "gzip"
	if !acceptsGzip(c.r.Header.Values("Accept-Encoding")) {
		if data, err = file.Plain(); err != nil {
			return nil, fmt.Errorf("page file %s: %w", name, err)
		}
		encoding = ""
	}
	h := c.w.Header()
	h.Set("Content-Type", pageType(name))
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", caching)
	h.Add("Vary", "Accept-Encoding")
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		_ = http.NewResponseController(c.w).SetWriteDeadline(gate.WriteUntil(len(data)))
		_, _ = wire.Raw(data).WriteTo(c.w)
	}
	return done{}, nil
}

func pageType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

type loginState struct {
	Asked bool   `json:"asked"` // a password is needed
	In    bool   `json:"in"`
	User  string `json:"user"`
	OIDC  string `json:"oidc,omitempty"` // where people log in at an issuer
}

// state answers whether the page has to ask for the password.
func (c page) state() (any, error) {
	in, asked := c.s.gate.LoggedIn(c.r)
	out := loginState{Asked: asked, In: in, User: c.s.opts.User}
	if c.s.opts.OIDC != nil {
		out.OIDC = loginOIDC
	}
	return out, nil
}

func (c page) logIn() (any, error) {
	if c.r.Header.Get(gate.PageHeader) == "" { // which no form of another page can send
		return nil, badPayload("the header %s is missing", gate.PageHeader)
	}
	var in struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.User == "" {
		in.User = c.s.opts.User
	}
	status, token, err := c.s.gate.LogIn(c.r, in.User, in.Password)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK:
		if err := c.enterWith(token); err != nil {
			return nil, err
		}
		return loginState{Asked: true, In: true, User: in.User}, nil
	case status == http.StatusTooManyRequests:
		c.w.Header().Set("Retry-After", "1")
	}
	c.w.WriteHeader(status)
	return done{}, nil
}

func (c page) logOut() (any, error) {
	if l, err := c.s.gate.Login(c.r); err == nil {
		if err := c.recordLogin("DELETE /lathe/login", l); err != nil {
			return nil, err
		}
	}
	if err := c.s.gate.LogOut(c.w, c.r); err != nil {
		return nil, err
	}
	return true, nil
}

// now is what runs and waits at the moment, for a page that has just been opened.
type now struct {
	Directory   string         `json:"directory"`
	Everywhere  bool           `json:"everywhere"` // it is told of every directory
	Status      map[string]any `json:"status"`
	Permissions []any          `json:"permissions"`
	Questions   []any          `json:"questions"`
}

func (c page) now() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	out := now{Directory: dir, Everywhere: c.anywhere(), Status: map[string]any{}, Permissions: []any{}, Questions: []any{}}
	dirs := []string{dir}
	service := c.s.opts.Service
	if out.Everywhere {
		dirs = service.Instances.Directories()
	}
	for _, dir := range dirs {
		for id, s := range service.Statuses(dir) {
			out.Status[string(id)] = wire.EncodeStatus(s)
		}
		for _, a := range service.Instances.Asks(c.ctx(), dir) {
			out.Permissions = append(out.Permissions, wire.EncodeAsk(a))
		}
		for _, q := range service.Questions.List(dir) {
			out.Questions = append(out.Questions, wire.EncodeQuestions(q))
		}
	}
	return out, nil
}
