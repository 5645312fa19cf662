package server

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// decisions notes what it is asked for.
type decisions struct{ calls []string }

func (d *decisions) State(context.Context, string) (api.Trust, error) {
	return api.Trust{State: "not trusted", Digest: "abc"}, nil
}

func (d *decisions) Decide(_ context.Context, dir string, in api.Decision) error {
	d.calls = append(d.calls, fmt.Sprint("decide ", filepath.Base(dir), in))
	return nil
}

func (d *decisions) Withdraw(_ context.Context, dir string) (api.Withdrawn, error) {
	d.calls = append(d.calls, "withdraw "+filepath.Base(dir))
	return api.Withdrawn{Dir: dir, Found: true}, nil
}

func (d *decisions) List() ([]api.Trusted, error) {
	return []api.Trusted{{Dir: "/elsewhere", Files: 2}}, nil
}

func TestTrustDecisions(t *testing.T) {
	d := &decisions{}
	r := newRig(t, func(o *Options) { o.Trusting, o.Trusted = d, true })
	if got := r.ok("GET", "/lathe/trust", "").(map[string]any)["digest"]; got != "abc" {
		t.Errorf("digest %v", got)
	}
	r.ok("POST", "/lathe/trust/decision", `{"digest":"abc","keep":true}`)
	r.ok("DELETE", "/lathe/trust/decision", "")
	r.ok("DELETE", "/lathe/trust/decision?of=/gone/away", "")
	if diff := cmp.Diff([]string{"decide repo{abc true}", "withdraw repo", "withdraw away"}, d.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if res := newRig(t).do("GET", "/lathe/trust", ""); res.status < 400 {
		t.Errorf("without decisions: %d %s", res.status, res.body)
	}
}

// TestTrustOverTheNetwork holds that who is not known to be the person decides about the
// directories that requests may work in, and hears of no other.
func TestTrustOverTheNetwork(t *testing.T) {
	d := &decisions{}
	r := newRig(t, func(o *Options) { o.Trusting, o.Directories = d, nil })
	elsewhere := url.QueryEscape(t.TempDir())
	for _, c := range []struct {
		method, path, body string
	}{
		{"GET", "/lathe/trust/list", ""},
		{"DELETE", "/lathe/trust/decision?of=" + elsewhere, ""},
		{"GET", "/lathe/trust?directory=" + elsewhere, ""},
		{"POST", "/lathe/trust/decision?directory=" + elsewhere, `{"digest":"abc","keep":true}`},
	} {
		if res := r.do(c.method, c.path, c.body); res.status != 403 {
			t.Errorf("%s %s: %d %s", c.method, c.path, res.status, res.body)
		}
	}
	if len(d.calls) > 0 {
		t.Errorf("it was decided: %q", d.calls)
	}
}
