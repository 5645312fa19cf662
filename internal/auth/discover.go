package auth

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"lathe"
)

// Method is how a host lets people log in.
type Method struct {
	Command []string // a program that prints a token
	Env     string   // the variable that holds the token
}

// Discover asks a host how to log in to it, for at most ten seconds. The answer comes from
// that host: nothing in it is run before the person has agreed.
func Discover(ctx context.Context, client *http.Client, address string) (Method, error) {
	var doc struct{ Auth Method }
	if err := fetch(ctx, client, address+"/.well-known/opencode", &doc); err != nil {
		return Method{}, err
	}
	if len(doc.Auth.Command) == 0 || doc.Auth.Env == "" {
		return Method{}, lathe.Errorf(lathe.CodeProvider, "", "%s does not say how to log in", address)
	}
	return doc.Auth, nil
}

func fetch(ctx context.Context, client *http.Client, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "check the address", "%v", err)
	}
	res, err := client.Do(req)
	if err != nil {
		return lathe.Errorf(lathe.CodeProvider, "check the address and the network", "fetch %s: %v", url, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return lathe.Errorf(lathe.CodeProvider, "check the address", "fetch %s: HTTP status %d", url, res.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(into); err != nil {
		return lathe.Errorf(lathe.CodeProvider, "check the address", "%s is not the document that was expected: %v", url, err)
	}
	return nil
}
