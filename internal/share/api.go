package share

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
	requestTimeout = 20 * time.Second // of one request
	maxReply       = 64 << 10
	maxField       = 2048
	maxBatch       = 1 << 20 // bytes of one sync; a larger object goes alone
)

// errGone says that the service does not know a session, or no longer accepts
// its secret: retrying is no use.
var errGone = errors.New("the service no longer accepts it")

// api speaks to a share service.
type api struct{ http *http.Client }

// newAPI returns an API that never follows a redirect: a secret goes only
// where it came from.
func newAPI(c *http.Client) api {
	if c == nil {
		c = &http.Client{}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return api{&own}
}

// baseOf checks the address of a service and returns it without a final slash.
// Without encryption, only this machine may be contacted.
func baseOf(address string) (string, error) {
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
func (a api) create(ctx context.Context, base string, id lathe.SessionID) (lathe.Share, error) {
	var out struct{ ID, URL, Secret string }
	raw, err := a.send(ctx, http.MethodPost, base+"/api/share", map[string]any{"sessionID": id})
	if err != nil {
		return lathe.Share{}, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return lathe.Share{}, fmt.Errorf("the service's answer: %w", err)
	}
	for name, v := range map[string]string{"id": out.ID, "url": out.URL, "secret": out.Secret} {
		if v == "" || len(v) > maxField || strings.ContainsFunc(v, unicode.IsControl) {
			return lathe.Share{}, fmt.Errorf("the service's answer has no usable %s", name)
		}
	}
	if u, err := url.Parse(out.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return lathe.Share{}, fmt.Errorf("the service's answer has no usable url")
	}
	return lathe.Share{ID: out.ID, URL: out.URL, Secret: out.Secret, Service: base}, nil
}

// sync sends objects.
func (a api) sync(ctx context.Context, sh lathe.Share, data []json.RawMessage) error {
	_, err := a.send(ctx, http.MethodPost, addressOf(sh)+"/sync", map[string]any{"secret": sh.Secret, "data": data})
	return err
}

// remove withdraws a session. It is no error if the service does not know it any more.
func (a api) remove(ctx context.Context, sh lathe.Share) error {
	_, err := a.send(ctx, http.MethodDelete, addressOf(sh), map[string]any{"secret": sh.Secret})
	var answer status
	if errors.As(err, &answer) && (answer == http.StatusNotFound || answer == http.StatusGone) {
		return nil
	}
	return err
}

func addressOf(sh lathe.Share) string {
	return sh.Service + "/api/share/" + url.PathEscape(sh.ID)
}

// status is an answer other than success.
type status int

func (s status) Error() string {
	return fmt.Sprintf("the service answered %d %s", int(s), http.StatusText(int(s)))
}

func (s status) Is(target error) bool {
	return target == errGone && (s == http.StatusUnauthorized || s == http.StatusForbidden || s == http.StatusNotFound || s == http.StatusGone)
}

// send makes one request and returns the answer's body.
func (a api) send(ctx context.Context, method, address string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return a.do(req, maxReply)
}

// do makes a request and returns the body of a success, which may have so many bytes.
func (a api) do(req *http.Request, most int64) ([]byte, error) {
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, status(resp.StatusCode)
	}
	out, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(out)) > most {
		err = fmt.Errorf("the service's answer is longer than %d KiB", most>>10)
	}
	return out, err
}
