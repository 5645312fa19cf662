package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestIssuerButton has a page behind a proxy that adds a prefix, of a server that says that
// people log in at an issuer: a button leads there, in the language of the browser. Without an
// issuer there is none.
func TestIssuerButton(t *testing.T) {
	s := newSite(t, greeting)
	ctx := s.browser(800, 600)
	s.do(ctx, chromedp.Navigate(s.url), chromedp.WaitVisible(`input[type=password]`),
		until(`fetch("lathe/login").then((r) => r.json()).then((s) => s.asked && !("oidc" in s))`), hides("Sign in with your organization"))

	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(res *http.Response) error {
			if res.Request.URL.Path != "/lathe/login" {
				return nil
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			text := strings.Replace(string(body), "{", `{"oidc":"/lathe/login/oidc",`, 1)
			res.Body = io.NopCloser(strings.NewReader(text))
			res.ContentLength = int64(len(text))
			res.Header.Set("Content-Length", strconv.Itoa(len(text)))
			return nil
		},
	}
	mux := http.NewServeMux()
	mux.Handle("/team/", http.StripPrefix("/team", proxy))
	mux.HandleFunc("/team/lathe/login/oidc", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "the issuer asks who you are")
	})
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	s.do(ctx, chromedp.Navigate(front.URL+"/team/"), chromedp.WaitVisible(`input[type=password]`), shows("Sign in with your organization"), picture("login-issuer"),
		until(`(localStorage.setItem("lathe.language", JSON.stringify("zh-CN")), true)`), chromedp.Navigate(front.URL+"/team/?again"), shows("通过组织账号登录"), press("通过组织账号登录"),
		shows("the issuer asks who you are"), until(`location.pathname === "/team/lathe/login/oidc"`))
	if got := s.problems.take(); len(got) > 0 {
		t.Errorf("the browser complains: %q", got)
	}
}
