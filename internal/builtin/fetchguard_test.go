package builtin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/netguard"
	"lathe/internal/tool"
)

// fetchAsk is what decides about an ask.
type fetchAsk struct {
	Pattern   string
	Always    []string
	Protected bool
	Named     any
}

func fetchAsks(asks []tool.Request) []fetchAsk {
	var out []fetchAsk
	for _, a := range asks {
		yes, _ := a.Metadata[tool.MetaProtected].(bool)
		out = append(out, fetchAsk{strings.Join(a.Patterns, " "), a.Always, yes, a.Metadata[tool.MetaNamed]})
	}
	return out
}

// lathe's own server is not reached, whatever name or redirect leads there.
func TestWebfetchOwnServer(t *testing.T) {
	var own netguard.Listeners
	r := newRig(t, func(e *Env) { e.Own = &own })
	reached := false
	s := serve(t, map[string]http.HandlerFunc{"/file/content": func(w http.ResponseWriter, _ *http.Request) { reached = true }})
	defer own.Add(s.Listener.Addr())()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	page := serve(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, s.URL+"/file/content?directory=/", http.StatusFound)
		},
	})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost", "0.0.0.0", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[::]", "[64:ff9b::7f00:1]", "１２７.0.0.1", "user:pass@127.0.0.1",
	} {
		r.fails("webfetch", m{"url": "http://" + host + ":" + port + "/file/content"}, "lathe's own server")
	}
	r.fails("webfetch", m{"url": page.URL + "/"}, "lathe's own server")
	if got := len(r.asks); got != 1 {
		t.Errorf("%d asks, want the one for the page that redirects: %v", got, r.asked())
	}
	for _, host := range []string{"127.1", "2130706433", "0x7f.1", "0177.0.0.1"} { // no names, and no spellings of an address either
		if res, err := r.run("webfetch", m{"url": "http://" + host + ":" + port + "/file/content"}); err != nil || !res.Failed {
			t.Errorf("%s: %+v %v", host, res, err)
		}
	}
	if reached {
		t.Error("the server was reached")
	}
	others := &netguard.Listeners{Others: func() []string { return []string{s.URL} }}
	elsewhere := newRig(t, func(e *Env) { e.Own = others })
	elsewhere.fails("webfetch", m{"url": s.URL + "/file/content"}, "lathe's own server")
}

// This machine and private networks are asked about, whatever is allowed; "always"
// offers the host and nothing wider.
func TestWebfetchPrivateAddresses(t *testing.T) {
	r := newRig(t)
	s := serve(t, map[string]http.HandlerFunc{
		"/": answer("text/plain", "mine"),
		"/meta": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "http://[::ffff:169.254.169.254]/", http.StatusFound)
		},
	})
	r.ok("webfetch", m{"url": s.URL + "/"})
	want := []fetchAsk{{s.URL + "/", []string{s.URL + "/*"}, true, s.URL + "/"}}
	if diff := cmp.Diff(want, fetchAsks(r.asks)); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	r.deny = func(req tool.Request) error {
		if req.Metadata[tool.MetaProtected] == true && req.Metadata[tool.MetaNamed] == nil {
			return errDenied
		}
		return nil
	}
	r.asks = nil
	for _, u := range []string{"http://169.254.169.254/latest/meta-data", s.URL + "/meta", "http://0x7f.1/", "http://metadata.google.internal/"} {
		if _, err := r.run("webfetch", m{"url": u}); !errors.Is(err, errDenied) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if last := r.asks[len(r.asks)-1]; last.Always != nil {
		t.Errorf("a metadata service can be allowed for good: %+v", last)
	}
	r.fails("webfetch", m{"url": "http://*/"}, "not a valid URL")
}

// Where no permit says more, only the open internet is connected to.
func TestGuardedTransport(t *testing.T) {
	client := http.Client{Transport: guarded(&http.Transport{}, nil)}
	for address, kind := range map[string]netguard.Kind{
		"http://0.0.0.0:1/": netguard.Internal, "http://127.0.0.1:1/": netguard.Private, "http://[::1]:1/": netguard.Private,
	} {
		_, err := client.Get(address)
		if l, ok := errors.AsType[*leads](err); !ok || l.kind != kind {
			t.Errorf("%s: %v, want a refusal", address, err)
		}
	}
}

// proxied is a fetcher behind a proxy that answers for every host. Names lead where
// the test says; others are known to the proxy alone.
func proxied(t *testing.T, own *netguard.Listeners, answers map[string]http.HandlerFunc, names map[string]string) (*rig, *fetcher) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if h, ok := answers[req.URL.Host+req.URL.Path]; ok {
			h(w, req)
			return
		}
		http.NotFound(w, req)
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	transport := guarded(&http.Transport{Proxy: http.ProxyURL(at)}, own)
	return r, &fetcher{
		own: own, now: time.Now, transport: func() http.RoundTripper { return transport },
		lookup: func(_ context.Context, _, host string) ([]netip.Addr, error) {
			if ip := names[host]; ip != "" {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr(ip)}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		},
	}
}

// Behind a proxy names are judged by what they resolve to, redirects from the
// internet into private networks cannot be allowed for good, and lathe's own
// server is out of reach.
func TestWebfetchBehindProxy(t *testing.T) {
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, address, http.StatusFound) }
	}
	own := &netguard.Listeners{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer own.Add(l.Addr())()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	r, f := proxied(t, own, map[string]http.HandlerFunc{
		"example.com/":      answer("text/plain", "page"),
		"wiki.corp/":        answer("text/plain", "wiki"),
		"10.0.0.7:81/":      answer("text/plain", "intranet"),
		"example.com/in":    to("http://10.0.0.7:81/"),
		"example.com/named": to("http://wiki.corp/"),
		"example.com/local": to("http://localhost:" + port + "/"),
		"example.com/own":   to("http://self.corp:" + port + "/"),
	}, map[string]string{"wiki.corp": "10.0.0.8", "self.corp": "127.0.0.1", "meta.corp": "169.254.169.254"})
	public := fetchAsk{"http://example.com/", []string{"http://example.com/*"}, false, nil}
	from := func(path string) fetchAsk { return fetchAsk{"http://example.com/" + path, public.Always, false, nil} }
	for _, tt := range []struct {
		url, want string // want is in the output, or in the failure
		asks      []fetchAsk
	}{
		{"HTTP://EXAMPLE.com:80/", "must start with", nil},
		{"http://EXAMPLE.com:80/", "page", []fetchAsk{public}},
		{"http://example.com", "page", []fetchAsk{{"http://example.com", []string{"http://example.com/*", "http://example.com"}, false, nil}}},
		{"http://wiki.corp/", "wiki", []fetchAsk{
			{"http://wiki.corp/", []string{"http://wiki.corp/*"}, false, nil},
			{"http://wiki.corp/", nil, true, "http://wiki.corp/"},
		}},
		{"http://10.0.0.7:81/", "intranet", []fetchAsk{{"http://10.0.0.7:81/", []string{"http://10.0.0.7:81/*"}, true, "http://10.0.0.7:81/"}}},
		{"http://example.com/in", "intranet", []fetchAsk{from("in"), {"http://10.0.0.7:81/", nil, true, nil}}},
		{"http://example.com/named", "wiki", []fetchAsk{
			from("named"), {"http://wiki.corp/", []string{"http://wiki.corp/*"}, false, nil}, {"http://wiki.corp/", nil, true, nil},
		}},
		{"http://example.com/local", "lathe's own server", []fetchAsk{from("local")}},
		{"http://example.com/own", "lathe's own server", []fetchAsk{from("own"), {"http://self.corp:" + port + "/", []string{"http://self.corp:" + port + "/*"}, false, nil}}},
		{"http://meta.corp/", "cloud's metadata service", []fetchAsk{{"http://meta.corp/", []string{"http://meta.corp/*"}, false, nil}}},
	} {
		r.asks = nil
		res, err := f.run(t.Context(), r.call(m{}), webfetchInput{URL: tt.url})
		text := res.Output
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.url, text, tt.want)
		}
		if diff := cmp.Diff(tt.asks, fetchAsks(r.asks)); diff != "" {
			t.Errorf("%s: asks (-want +got):\n%s", tt.url, diff)
		}
	}
}
