package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"lathe"
)

const maxShared = 64 << 20 // bytes of a session that somebody shared

// Shared returns a session that somebody shared, in the service's form: a list of
// objects with a type and data. The address is the link that people pass on. Nothing of
// what comes is looked at but that it is such a list.
func (s *Service) Shared(ctx context.Context, link string) (json.RawMessage, error) {
	address, err := dataOf(link)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "use the link that sharing gave, or open a file that was exported", "%v", err)
	}
	data, err := s.queue.api.read(ctx, address)
	if err != nil {
		return nil, &lathe.Error{Code: lathe.CodeInvalid, Msg: "the shared session could not be read: " + err.Error(), Hint: "see whether the link opens in a browser; it may have been withdrawn", Cause: err}
	}
	return data, nil
}

// dataOf returns where a service has the contents of what a link shows.
func dataOf(link string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return "", errors.New("this is no address")
	}
	id := path.Base(u.Path)
	u.RawQuery, u.Fragment = "", ""
	if id == "." || id == "/" {
		return "", fmt.Errorf("%q names no session", link)
	}
	u.Path, u.RawPath = "", ""
	base, err := baseOf(u.String())
	if err != nil {
		return "", err
	}
	return base + "/api/share/" + url.PathEscape(id) + "/data", nil
}

// read fetches a list.
func (a api) read(ctx context.Context, address string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	data, err := a.do(req, maxShared)
	switch {
	case err != nil:
		return nil, err
	case !json.Valid(data) || len(data) == 0 || data[0] != '[':
		return nil, errors.New("the answer is no shared session")
	}
	return data, nil
}
