package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// proxy stands before a server and adds a prefix to its paths, as a person's would. It
// can cut the streams of events.
type proxy struct {
	url string

	mu      sync.Mutex
	streams map[int]context.CancelFunc
	opened  int
	asked   []string // the other paths, without the prefix
}

const prefix = "/some/prefix"

func (s *site) proxied() *proxy {
	s.t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	target.Host = strings.Replace(target.Host, "localhost", "127.0.0.1", 1)
	p := &proxy{streams: map[int]context.CancelFunc{}}
	back := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	server := httptest.NewServer(http.StripPrefix(prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lathe/event" {
			p.mu.Lock()
			p.asked = append(p.asked, r.URL.Path)
			p.mu.Unlock()
			back.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		p.mu.Lock()
		p.opened++
		n := p.opened
		p.streams[n] = cancel
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.streams, n)
			p.mu.Unlock()
			_ = recover() // the proxy ends a stream that breaks off with a panic
		}()
		back.ServeHTTP(w, r.WithContext(ctx))
	})))
	s.t.Cleanup(server.Close)
	s.t.Cleanup(p.cut)
	p.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + prefix + "/"
	return p
}

// cut breaks every stream off.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.streams {
		cancel()
	}
}

// streamsOpened returns how many streams there have been.
func (p *proxy) streamsOpened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// count returns how often a path that ends so was asked for.
func (p *proxy) count(suffix string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range p.asked {
		if strings.HasSuffix(path, suffix) {
			n++
		}
	}
	return n
}

// answer is one that a proxy's streams of events keep up with: it goes on after a token only
// when the streams have been opened that belong there.
type answer struct {
	t     *testing.T
	proxy atomic.Pointer[proxy]
	opens map[int]int // token: streams
}

func (a *answer) token(n int) string {
	for want := a.opens[n]; a.t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
		if p := a.proxy.Load(); want == 0 || p != nil && p.streamsOpened() >= want {
			break
		}
	}
	return fmt.Sprintf("t%d ", n)
}

// TestBrokenConnection has a page behind a proxy with a prefix follow an answer whose
// stream breaks off again and again: nothing of it is lost, doubled or loaded anew.
func TestBrokenConnection(t *testing.T) {
	const numbered = 600
	a := &answer{t: t, opens: map[int]int{100: 2, 220: 3, 340: 4, 460: 5}}
	s := newSiteWith(t, "text Fine.\n", streaming(t, 200, numbered*5*time.Millisecond, a.token))
	p := s.proxied()
	a.proxy.Store(p)
	s.url = p.url
	ctx := s.browser(900, 700)
	s.do(ctx, s.login(), press("New session"), chromedp.WaitVisible(`.composer textarea`), say("count"))
	for n := range 4 {
		s.do(ctx, shows(fmt.Sprintf("t%d ", 30+n*120)))
		p.cut()
	}
	s.do(ctx, hides("Working…"))
	before := p.count("/message")
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector(".message:not(.mine) .md").innerText.trim()`))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(got)
	for n, w := range words {
		if w != fmt.Sprintf("t%d", n) {
			t.Fatalf("word %d is %q in %q", n, w, got)
		}
	}
	if len(words) != numbered {
		t.Errorf("%d words came, want %d", len(words), numbered)
	}
	if n := p.streamsOpened(); n < 5 {
		t.Errorf("%d streams were opened, so none was resumed", n)
	}
	if before != 1 {
		t.Errorf("the messages were loaded %d times", before)
	}
}

// TestTenTabs has ten tabs of one browser share a stream; when the tab that reads it
// goes, another takes over where it was.
func TestTenTabs(t *testing.T) {
	a := &answer{t: t, opens: map[int]int{100: 2}}
	s := newSiteWith(t, "text Fine.\n", streaming(t, 100, 2*time.Second, a.token))
	p := s.proxied()
	a.proxy.Store(p)
	s.url = p.url
	first := s.browser(900, 700)
	s.do(first, s.login(), press("New session"), chromedp.WaitVisible(`.composer textarea`))
	where, err := chromedp.Run(first, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	tabs := []context.Context{}
	for range 9 {
		tab := s.tab(first)
		s.do(tab, chromedp.Navigate(where), chromedp.WaitVisible(`.composer textarea`))
		tabs = append(tabs, tab)
	}
	if n := p.streamsOpened(); n != 1 {
		t.Errorf("ten tabs opened %d streams", n)
	}
	s.do(tabs[0], say("count"), shows("t20 "))
	s.do(first, chromedp.Navigate("about:blank")) // it was the one that read
	for _, tab := range tabs {
		s.do(tab, shows("t150 "), hides("Working…"))
		got, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector(".message:not(.mine) .md").innerText.trim()`))
		if err != nil {
			t.Fatal(err)
		}
		for n, w := range strings.Fields(got) {
			if w != fmt.Sprintf("t%d", n) {
				t.Fatalf("word %d is %q", n, w)
			}
		}
	}
	if n := p.streamsOpened(); n != 2 {
		t.Errorf("%d streams were opened, want one after the other", n)
	}
}
