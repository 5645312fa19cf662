package builtin

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/idna"

	"lathe"
	"lathe/internal/netguard"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

const (
	fetchBytes     = 5 << 20
	fetchTimeout   = 30 * time.Second
	fetchTimeLimit = 120 * time.Second
	fetchRedirects = 10
	browserAgent   = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
)

//go:embed webfetch.md
var webfetchText string

type webfetchInput struct {
	URL     string   `json:"url"`
	Format  string   `json:"format"`
	Timeout *float64 `json:"timeout"`
}

func (e webTools) webfetchTool() tool.Tool {
	s := spec("webfetch", webfetchText, `{"type":"object","properties":{`+
		`"url":{"type":"string","description":"Address, beginning with http:// or https://"},`+
		`"format":{"type":"string","enum":["markdown","text","html"],"description":"Form of the answer; markdown if left out"},`+
		`"timeout":{"type":"number","description":"Seconds to wait, at most 120; 30 if left out"}},`+
		`"required":["url"],"additionalProperties":false}`)
	s.ReadOnly = true
	f := &fetcher{own: e.own, now: e.now, transport: sync.OnceValue(e.fetchTransport), lookup: net.DefaultResolver.LookupNetIP}
	return typed(s, f.run)
}

// fetcher is the webfetch tool.
type fetcher struct {
	own       *netguard.Listeners
	now       func() time.Time
	transport func() http.RoundTripper
	lookup    func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// run asks for every host on the way, then fetches.
func (f *fetcher) run(ctx context.Context, call *tool.Call, in webfetchInput) (tool.Result, error) {
	if in.Format == "" {
		in.Format = "markdown"
	}
	u, err := fetchable(in.URL)
	if err != nil {
		return tool.Result{}, err
	}
	left := fetchTimeout
	if in.Timeout != nil && *in.Timeout > 0 {
		left = min(time.Duration(min(*in.Timeout, 1e6)*float64(time.Second)), fetchTimeLimit)
	}
	v := &visit{fetcher: f, call: call, format: in.Format, left: left}
	for range fetchRedirects + 1 {
		page, err := v.to(ctx, u)
		if err != nil {
			return tool.Result{}, fetchError(ctx, u, err)
		}
		if page.redirect == nil {
			return page.result(in)
		}
		if u = page.redirect; v.left <= 0 {
			return tool.Result{}, failf("Request timed out")
		}
	}
	return tool.Result{}, failf("%s redirects more than %d times.", in.URL, fetchRedirects)
}

// fetchable parses an address that may be fetched. What is judged is what is
// fetched: the host is in lower case, in ASCII and without the usual port.
func fetchable(raw string) (*url.URL, error) {
	if !strings.HasPrefix(raw, "http://") && !strings.HasPrefix(raw, "https://") {
		return nil, failf("URL must start with http:// or https://")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, "*?\\ \"<>^`{|}") {
		return nil, failf("%q is not a valid URL.", raw)
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return nil, failf("%q is not a valid URL.", raw)
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	u.Host = host
	return u, nil
}

// page is an answer.
type page struct {
	url      *url.URL
	redirect *url.URL
	kind     string // content type as it came
	body     []byte
}

func (f *fetcher) get(ctx context.Context, u *url.URL, format string, timeout time.Duration) (page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errFetchTimeout)
	defer cancel()
	res, err := f.send(ctx, u, format, browserAgent)
	if err != nil {
		return page{}, err
	}
	if res.StatusCode == http.StatusForbidden && res.Header.Get("Cf-Mitigated") == "challenge" {
		_ = res.Body.Close()
		if res, err = f.send(ctx, u, format, "lathe"); err != nil {
			return page{}, err
		}
	}
	defer res.Body.Close()
	p := page{url: u, kind: res.Header.Get("Content-Type")}
	if to, err := res.Location(); err == nil && res.StatusCode >= 300 && res.StatusCode < 400 {
		p.redirect, err = fetchable(to.String())
		return p, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return p, failf("Request failed with status code: %d", res.StatusCode)
	}
	if res.ContentLength > fetchBytes {
		return p, errFetchSize
	}
	p.body, err = io.ReadAll(io.LimitReader(res.Body, fetchBytes+1))
	if err != nil {
		return p, err
	}
	if len(p.body) > fetchBytes {
		return p, errFetchSize
	}
	return p, nil
}

var (
	errFetchTimeout = errors.New("request timed out")
	errFetchSize    = failure("Response too large (exceeds 5MB limit)")
)

func (f *fetcher) send(ctx context.Context, u *url.URL, format, agent string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", accept(format))
	req.Header.Set("Accept-Language", "en-US,en;q=0.9")
	transport, permit := f.transport(), permitOf(ctx)
	if permit.proxied = behindProxy(transport, req); permit.proxied {
		if err := f.judge(ctx, u, permit); err != nil {
			return nil, err
		}
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client.Do(req)
}

func accept(format string) string {
	switch format {
	case "text":
		return "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1"
	case "html":
		return "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1"
	default:
		return "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
	}
}

// fetchError puts a failed request into words.
func fetchError(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d, ok := errors.AsType[*refused](err); ok {
		return d
	}
	if l, ok := errors.AsType[*leads](err); ok {
		return failf("%s is not fetched: it leads to %s.", u, l.where())
	}
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	var timeout interface{ Timeout() bool }
	if errors.Is(err, errFetchTimeout) || errors.As(err, &timeout) && timeout.Timeout() {
		return failf("Request timed out")
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return failf("Could not fetch %s: %v", u, err)
}

// result turns the answer into the form that was asked for.
func (p page) result(in webfetchInput) (tool.Result, error) {
	res := tool.Result{Title: fmt.Sprintf("%s (%s)", in.URL, p.kind), Metadata: map[string]any{}}
	if kind := workspace.MediaType(p.body); attachable(kind) && strings.HasPrefix(kind, "image/") {
		res.Output = "Image fetched successfully"
		res.Attachments = []lathe.File{{MIME: kind, Filename: path.Base(p.url.Path), URL: dataURL(kind, p.body)}}
		return res, nil
	}
	if workspace.IsBinary("", p.body) {
		return res, failf("%s is not text (%s, %d bytes). Download it with the shell if it is needed.", in.URL, p.kind, len(p.body))
	}
	text := p.text()
	switch {
	case !strings.Contains(strings.ToLower(p.kind), "text/html") || in.Format == "html":
		res.Output = text
	case in.Format == "text":
		res.Output = htmlText(text)
	default:
		res.Output = htmlMarkdown(text, p.url)
	}
	return res, nil
}

// text decodes the body. Of the old encodings, only Latin-1 is supported.
func (p page) text() string {
	_, params, _ := mime.ParseMediaType(p.kind)
	switch strings.ToLower(params["charset"]) {
	case "iso-8859-1", "latin1", "windows-1252":
		if !utf8.Valid(p.body) {
			runes := make([]rune, len(p.body))
			for i, c := range p.body {
				runes[i] = rune(c)
			}
			return string(runes)
		}
	}
	t, err := workspace.Decode(p.body)
	if err != nil {
		return strings.ToValidUTF8(string(p.body), "\ufffd")
	}
	return strings.ToValidUTF8(t.Content, "\ufffd")
}

// htmlMarkdown converts a page. One that cannot be parsed because it is nested
// too deeply is returned as text.
func htmlMarkdown(page string, from *url.URL) string {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithHorizontalRule("---"), commonmark.WithBulletListMarker("-")),
		table.NewTablePlugin(),
	))
	out, err := conv.ConvertString(page, converter.WithDomain(from.Scheme+"://"+from.Host))
	if err != nil {
		return htmlText(page)
	}
	return strings.TrimSpace(out)
}

// htmlText removes the tags from a page, and everything that is not for reading.
func htmlText(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var b strings.Builder
	skip := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if skip == "" {
				b.Write(z.Text())
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			switch tag := string(name); {
			case skip != "":
			case unread(tag):
				skip = tag
			case breaks(tag):
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch tag := string(name); {
			case tag == skip:
				skip = ""
			case skip == "" && breaks(tag):
				b.WriteByte('\n')
			}
		case html.SelfClosingTagToken:
			b.WriteByte('\n')
		}
	}
}

func unread(tag string) bool {
	switch tag {
	case "script", "style", "noscript", "iframe", "object", "template":
		return true
	}
	return false
}

func breaks(tag string) bool {
	switch tag {
	case "p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "header", "footer", "pre", "blockquote",
		"h1", "h2", "h3", "h4", "h5", "h6", "title", "dt", "dd", "figure", "main", "nav", "aside", "form", "hr":
		return true
	}
	return false
}

// tidy trims the lines of a text and leaves at most one empty line in a row.
func tidy(text string) string {
	var out []string
	for line := range strings.Lines(html.UnescapeString(text)) {
		line = strings.TrimSpace(line)
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
