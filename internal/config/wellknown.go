package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/jsonc"
	"lathe/internal/netguard"
)

const (
	maxRemote     = 1 << 20
	remoteTimeout = 5 * time.Second
)

// organisations adds the configuration of every organisation the person has
// logged in to. The last good answer is kept: it stands in when the address
// does not answer, with a warning.
func (l *loader) organisations() error {
	if l.o.Auth == nil {
		return nil
	}
	entries, err := l.o.Auth.All()
	if err != nil {
		l.warn("", "credentials are not used: "+err.Error())
		return nil
	}
	urls := slices.Sorted(maps.Keys(entries))
	l.c.Env = map[string]string{}
	for _, u := range urls {
		if e, ok := entries[u].(auth.WellKnown); ok {
			l.c.Env[e.Key] = e.Token.Reveal()
		}
	}
	for _, u := range urls {
		if _, ok := entries[u].(auth.WellKnown); !ok {
			continue
		}
		if err := l.organisation(u); err != nil {
			return &lathe.Error{Code: lathe.CodeInvalid, Msg: fmt.Sprintf("configuration of the organisation %q cannot be read", u),
				Hint: "try again when it is reachable, or leave it with: lathe auth logout " + u, Cause: err}
		}
	}
	return nil
}

func (l *loader) organisation(base string) error {
	addr := base + "/.well-known/opencode"
	doc, err := l.remote(addr, nil)
	if err != nil {
		return err
	}
	if err := l.remoteConfig(addr, doc.Get("config")); err != nil {
		return err
	}
	more := doc.Get("remote_config")
	next := textOf(more.Get("url"))
	if next == "" {
		return nil
	}
	header := map[string]string{}
	if h := more.Get("headers"); h != nil {
		for _, m := range h.Members {
			header[m.Key] = m.Value.Text
		}
	}
	second, err := l.remote(next, header)
	if err != nil {
		return err
	}
	if inner := second.Get("config"); inner != nil && inner.Kind == jsonc.Object {
		second = inner
	}
	return l.remoteConfig(next, second)
}

func (l *loader) remoteConfig(name string, v *jsonc.Value) error {
	if v == nil || v.Kind != jsonc.Object {
		return nil
	}
	return l.add(v, Source{name, Managed})
}

// remote fetches a document, or returns the previous copy.
func (l *loader) remote(addr string, header map[string]string) (*jsonc.Value, error) {
	sum := sha256.Sum256([]byte(addr))
	copyPath := filepath.Join(l.o.Paths.Cache, "organisation-"+hex.EncodeToString(sum[:8])+".json")
	text, err := l.fetch(addr, header)
	if err == nil {
		if err := Ensure(l.o.Paths.Cache); err == nil {
			_ = writeFile(copyPath, text)
		}
	} else {
		if l.ctx.Err() != nil {
			return nil, context.Cause(l.ctx)
		}
		old, readErr := readFile(copyPath, maxRemote)
		if readErr != nil {
			return nil, err
		}
		l.warn(addr, "not reachable, its last answer is used: "+err.Error())
		text = old
	}
	src, err := l.expand(jsonc.NewSource(addr, text), l.o.Paths.Config, Managed)
	if err != nil {
		return nil, err
	}
	return src.Parse()
}

func (l *loader) fetch(addr string, header map[string]string) ([]byte, error) {
	u, err := url.Parse(addr)
	if err != nil || !private(u) {
		return nil, fmt.Errorf("%q is not an https address", addr)
	}
	ctx, cancel := context.WithTimeoutCause(l.ctx, remoteTimeout, errors.New("no complete answer within 5 s"))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "lathe/"+lathe.Version)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := secureClient(l.o.HTTP).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("HTTP %d", res.StatusCode)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		return nil, errors.New("the answer is a web page; perhaps a login is needed: lathe auth login " + u.Scheme + "://" + u.Host)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRemote+1))
	if err == nil && len(text) > maxRemote {
		err = errors.New("the answer is larger than 1 MiB")
	}
	return text, err
}

// private reports whether nobody on the way can read or change what comes from an
// address.
func private(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && netguard.Loopback(u.Hostname())
}

// secureClient is a client, the default one for nil, that follows no redirect to
// where others could answer.
func secureClient(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	own := *c
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case !private(req.URL):
			return fmt.Errorf("it redirects to %q, which is not an https address", req.URL.Redacted())
		case len(via) >= 10:
			return errors.New("it redirects too often")
		}
		return nil
	}
	return &own
}

// writeFile replaces a file of the owner's in one step.
func writeFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
