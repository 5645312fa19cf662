package server

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestPage serves the page and what it names, with a policy that lets nothing else in.
func TestPage(t *testing.T) {
	r := newRig(t)
	get := func(path, encoding string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", encoding)
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		data, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(data)
	}
	res, index := get("/", "identity")
	policy := res.Header.Get("Content-Security-Policy")
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") {
		t.Fatalf("%d %s %s", res.StatusCode, res.Header.Get("Content-Type"), policy)
	}
	files := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(index, -1)
	if len(files) < 3 { // an icon, a style sheet, a script and what it imports
		t.Fatalf("the page names %q", files)
	}
	for _, f := range files {
		if strings.HasPrefix(f[1], "/") || strings.Contains(f[1], ":") {
			t.Errorf("%q would not work behind a prefix", f[1])
		}
		res, plain := get("/"+f[1], "identity")
		if res.StatusCode != 200 || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") || plain == "" {
			t.Errorf("%s: %d, %q", f[1], res.StatusCode, res.Header.Get("Cache-Control"))
		}
		res, packed := get("/"+f[1], "gzip")
		if res.Header.Get("Content-Encoding") != "gzip" || len(packed) >= len(plain) {
			t.Errorf("%s: %q, %d bytes of %d", f[1], res.Header.Get("Content-Encoding"), len(packed), len(plain))
		}
		if got := gunzipped(t, packed); got != plain {
			t.Errorf("%s: compressed it is another file, of %d bytes instead of %d", f[1], len(got), len(plain))
		}
	}
	// A name that stays when the content changes is not kept for good.
	if res, again := get("/lathe/page/index.html", "identity"); again != index || res.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("index.html: %q", res.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/lathe/page/icon.svg", "/lathe/page/none.js", "/lathe/page/index.html.gz", "/lathe/page/..%2fweb.go", "/lathe/page/", "/nothing"} {
		if res, _ := get(path, "identity"); res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

func gunzipped(t *testing.T, data string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestPageNow tells what waits in the server's directory.
func TestPageNow(t *testing.T) {
	r := newRig(t)
	var got struct {
		Directory              string
		Everywhere             bool
		Status                 map[string]any
		Permissions, Questions []any
	}
	if err := json.Unmarshal([]byte(r.do("GET", "/lathe/now", "").body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Directory != r.dir || got.Everywhere || got.Status == nil || got.Permissions == nil || got.Questions == nil {
		t.Errorf("got %+v", got)
	}
	if res := r.do("POST", "/lathe/login", `{"password":"x"}`); res.status != 400 { // a form of another page has not the header
		t.Errorf("a login without the page's header: %d", res.status)
	}
}
