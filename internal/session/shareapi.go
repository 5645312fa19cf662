package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"lathe"
	"lathe/internal/netguard"
)

const (
	shareTimeout  = 20 * time.Second // of one request
	maxShareReply = 64 << 10
	maxShareField = 2048
	shareBatch    = 1 << 20 // bytes of one sync; a larger object goes alone
)

// errShareGone says that the service does not know a session, or no longer takes
// its secret: there is no use in trying again.
var errShareGone = errors.New("the service no longer takes it")

// shareAPI speaks to a share service.
type shareAPI struct{ http *http.Client }

// newShareAPI returns an API that never follows a redirect: a secret goes only
// where it came from.
func newShareAPI(c *http.Client) shareAPI {
	if c == nil {
		c = &http.Client{}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return shareAPI{&own}
}

// shareBase checks the address of a service and returns it without a final
// slash. Without encryption only this machine is talked to.
func shareBase(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return "", err
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q is not an address like https://share.example.com", address)
	case u.Scheme != "https" && (u.Scheme != "http" || !netguard.Loopback(u.Hostname())):
		return "", fmt.Errorf("%q is not encrypted: sessions are sent over https only", address)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// create publishes an empty session.
func (a shareAPI) create(ctx context.Context, base string, id lathe.SessionID) (lathe.Share, error) {
	var out struct{ ID, URL, Secret string }
	raw, err := a.send(ctx, http.MethodPost, base+"/api/share", map[string]any{"sessionID": id})
	if err != nil {
		return lathe.Share{}, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return lathe.Share{}, fmt.Errorf("the service's answer: %w", err)
	}
	for name, v := range map[string]string{"id": out.ID, "url": out.URL, "secret": out.Secret} {
		if v == "" || len(v) > maxShareField || strings.ContainsFunc(v, unicode.IsControl) {
			return lathe.Share{}, fmt.Errorf("the service's answer has no usable %s", name)
		}
	}
	if u, err := url.Parse(out.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return lathe.Share{}, fmt.Errorf("the service's answer has no usable url")
	}
	return lathe.Share{ID: out.ID, URL: out.URL, Secret: out.Secret, Service: base}, nil
}

// sync sends objects.
func (a shareAPI) sync(ctx context.Context, sh lathe.Share, data []json.RawMessage) error {
	_, err := a.send(ctx, http.MethodPost, shareAddress(sh)+"/sync", map[string]any{"secret": sh.Secret, "data": data})
	return err
}

// remove takes a session back. One that the service does not know is gone already.
func (a shareAPI) remove(ctx context.Context, sh lathe.Share) error {
	_, err := a.send(ctx, http.MethodDelete, shareAddress(sh), map[string]any{"secret": sh.Secret})
	var status shareStatus
	if errors.As(err, &status) && (status == http.StatusNotFound || status == http.StatusGone) {
		return nil
	}
	return err
}

func shareAddress(sh lathe.Share) string {
	return sh.Service + "/api/share/" + url.PathEscape(sh.ID)
}

// shareStatus is an answer that is no success.
type shareStatus int

func (s shareStatus) Error() string {
	return fmt.Sprintf("the service answered %d %s", int(s), http.StatusText(int(s)))
}

func (s shareStatus) Is(target error) bool {
	return target == errShareGone && (s == http.StatusUnauthorized || s == http.StatusForbidden || s == http.StatusNotFound || s == http.StatusGone)
}

// send makes one request and returns the answer's body.
func (a shareAPI) send(ctx context.Context, method, address string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, shareTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, shareStatus(resp.StatusCode)
	}
	out, err := io.ReadAll(io.LimitReader(resp.Body, maxShareReply+1))
	if err == nil && len(out) > maxShareReply {
		err = fmt.Errorf("the service's answer is longer than %d bytes", maxShareReply)
	}
	return out, err
}
