package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	netproxy "golang.org/x/net/proxy"

	"lathe/internal/netguard"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__connect" {
		if err := Connect(context.Background(), os.Args[2:], os.Getenv, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")) // it ends by itself, soon
}

const public = "93.184.216.34"

// world is a proxy between a command and an internet of one server: names lead to
// addresses, and every address leads to the server.
type world struct {
	*Proxy
	names  map[string][]string
	server string

	mu      sync.Mutex
	lookups []string
	dialled []string
}

func newWorld(t *testing.T, h http.Handler, change func(*Options)) *world {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w := &world{server: s.Listener.Addr().String(), names: map[string][]string{
		"example.org": {public}, "inside.example": {"10.1.2.3"}, "meta.example": {"169.254.169.254"},
		"both.example": {"10.1.2.3", public}, "here.example": {"127.0.0.1"}, "secure.example": {public},
	}}
	o := Options{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lookups = append(w.lookups, host)
			var out []netip.Addr
			for _, ip := range w.names[host] {
				out = append(out, netip.MustParseAddr(ip))
			}
			if len(out) == 0 {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return out, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			w.mu.Lock()
			w.dialled = append(w.dialled, to.String())
			w.mu.Unlock()
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.server)
		},
	}
	if change != nil {
		change(&o)
	}
	w.Proxy = New(o)
	t.Cleanup(func() { w.Close() })
	return w
}

// door opens a door and returns the address at which it is served.
func (w *world) door(t *testing.T, judge Judge) (*Door, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := w.Open(judge)
	t.Cleanup(d.Close)
	go func() { _ = d.Serve(l) }()
	return d, l.Addr().String()
}

func allowAll(context.Context, Attempt) error { return nil }

// clientOf speaks HTTP by a proxy.
func clientOf(t *testing.T, proxy string) *http.Client {
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// get fetches and returns the status and the text, or the error.
func get(c *http.Client, address string) string {
	res, err := c.Get(address)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(body)), errText(err))
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}

var echoHost = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %q", r.Method, r.Host, r.URL.Path, body)
	for name := range r.Header {
		if strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name, "X-Forwarded") {
			fmt.Fprint(w, " ", name)
		}
	}
})

// tunnelled sends a plain request through a tunnel, and returns the answer.
func tunnelled(t *testing.T, conn net.Conn, host string) string {
	t.Helper()
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /t HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// connect asks for a tunnel, and returns it or the status and text.
func connect(t *testing.T, proxy, target string) (net.Conn, string) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusOK {
		return &client{Conn: conn, in: in, end: func() { conn.Close() }}, ""
	}
	defer conn.Close()
	text, _ := io.ReadAll(res.Body)
	return nil, fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(text)))
}

func TestEveryWayThrough(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	d, at := w.door(t, allowAll)

	res, err := clientOf(t, "http://"+at).Post("http://EXAMPLE.org./plain", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if want := `POST example.org /plain "body"`; string(body) != want {
		t.Errorf("plain: %s, want %s", body, want)
	}
	conn, text := connect(t, at, "example.org:443")
	if conn == nil {
		t.Fatal(text)
	}
	if got, want := tunnelled(t, conn, "example.org"), `GET example.org /t ""`; got != want {
		t.Errorf("tunnel: %s, want %s", got, want)
	}
	for _, host := range []string{"example.org", public, "2606:2800::1"} {
		socks, err := netproxy.SOCKS5("tcp", at, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := socks.Dial("tcp", net.JoinHostPort(host, "8443"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tunnelled(t, conn, "x"), `GET x /t ""`; got != want {
			t.Errorf("socks: %s, want %s", got, want)
		}
	}
	want := []string{public + ":80", public + ":443", public + ":8443", public + ":8443", "[2606:2800::1]:8443"}
	if diff := cmp.Diff(want, w.dialled); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	var hosts []string
	for _, one := range d.Traffic() {
		hosts = append(hosts, one.Host)
		if one.Sent < 40 || one.Received < 60 {
			t.Errorf("traffic %+v", one)
		}
	}
	if diff := cmp.Diff([]string{"example.org", "example.org:8443", public + ":8443", "[2606:2800::1]:8443"}, hosts); diff != "" {
		t.Errorf("traffic (-want +got):\n%s", diff)
	}
}

// A name is judged before it is looked up, and the address that it leads to before it
// is connected to.
func TestJudged(t *testing.T) {
	tests := []struct {
		target string
		allow  []string // of what the judge is asked
		asked  []string
		looked []string
		dialed []string
		answer string // contained in the refusal; empty: it works
	}{
		{"example.org:443", nil, []string{"example.org 0 invalid IP"}, nil, nil, "403 lathe: example.org was not reached: no"},
		{"example.org:443", []string{"example.org 0 invalid IP"}, []string{"example.org 0 invalid IP"}, []string{"example.org"}, []string{public + ":443"}, ""},
		{"inside.example:22", []string{"inside.example:22 0 invalid IP"}, []string{"inside.example:22 0 invalid IP", "inside.example:22 1 10.1.2.3"},
			[]string{"inside.example"}, nil, "403 lathe: inside.example:22 was not reached: no"},
		{"inside.example:80", []string{"inside.example 0 invalid IP", "inside.example 1 10.1.2.3"}, []string{"inside.example 0 invalid IP", "inside.example 1 10.1.2.3"},
			[]string{"inside.example"}, []string{"10.1.2.3:80"}, ""},
		{"both.example:80", []string{"both.example 0 invalid IP"}, []string{"both.example 0 invalid IP"}, []string{"both.example"}, []string{public + ":80"}, ""},
		{"meta.example:80", []string{"meta.example 0 invalid IP"}, []string{"meta.example 0 invalid IP"}, []string{"meta.example"}, nil, "the local link or of a cloud's metadata service"},
		{"169.254.169.254:80", nil, []string{"169.254.169.254 2 invalid IP"}, nil, nil, "was not reached: no"},
		{"169.254.169.254:80", []string{"169.254.169.254 2 invalid IP"}, []string{"169.254.169.254 2 invalid IP"}, nil, []string{"169.254.169.254:80"}, ""},
		{"[::ffff:169.254.169.254]:80", nil, []string{"169.254.169.254 2 invalid IP"}, nil, nil, "was not reached: no"},
		{"localhost:5432", nil, []string{"localhost:5432 1 invalid IP"}, nil, nil, "localhost:5432 was not reached: no"},
		{"localhost:5432", []string{"localhost:5432 1 invalid IP"}, []string{"localhost:5432 1 invalid IP"}, nil, []string{"127.0.0.1:5432"}, ""},
		{"127.0.0.1:5432", nil, []string{"127.0.0.1:5432 1 invalid IP"}, nil, nil, "127.0.0.1:5432 was not reached: no"},
		{"127.0.0.1:4096", nil, nil, nil, nil, "lathe's own server"},
		{"localhost:4096", nil, nil, nil, nil, "lathe's own server"},
		{"[::1]:4096", nil, nil, nil, nil, "lathe's own server"},
		{"0.0.0.0:4096", nil, nil, nil, nil, "lathe's own server"},
		{"here.example:4096", []string{"here.example:4096 0 invalid IP"}, []string{"here.example:4096 0 invalid IP"}, []string{"here.example"}, nil, "lathe's own server"},
		{"0x7f.1:80", nil, nil, nil, nil, "400 lathe: \"0x7f.1\": write the address as four numbers"},
		{"2130706433:80", nil, nil, nil, nil, "400 "},
		{"a b:80", nil, nil, nil, nil, "400 "},
		{"example.org:0", nil, nil, nil, nil, "400 "},
		{"example.org", nil, nil, nil, nil, "400 "},
		{"none.example:443", []string{"none.example 0 invalid IP"}, []string{"none.example 0 invalid IP"}, []string{"none.example"}, nil, "502 "},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			var own netguard.Listeners
			own.Add(&net.TCPAddr{Port: 4096})
			w := newWorld(t, echoHost, func(o *Options) { o.Own = &own })
			var asked []string
			_, at := w.door(t, func(_ context.Context, a Attempt) error {
				text := fmt.Sprint(a.Label(), " ", int(a.Kind), " ", a.Leads)
				asked = append(asked, text)
				if slices.Contains(tt.allow, text) {
					return nil
				}
				return errors.New("no")
			})
			conn, refusal := connect(t, at, tt.target)
			if conn != nil {
				tunnelled(t, conn, "x")
			}
			if (tt.answer == "") != (conn != nil) || !strings.Contains(refusal, tt.answer) {
				t.Errorf("answer %q, want %q", refusal, tt.answer)
			}
			for _, list := range []struct {
				name      string
				want, got []string
			}{{"asked", tt.asked, asked}, {"looked up", tt.looked, w.lookups}, {"dialled", tt.dialed, w.dialled}} {
				if diff := cmp.Diff(list.want, list.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", list.name, diff)
				}
			}
		})
	}
}

// A name that leads somewhere else each time it is looked up is looked up once for each
// connection, and what was judged is what is connected to.
func TestRebinding(t *testing.T) {
	var turn atomic.Int64
	w := newWorld(t, echoHost, nil)
	w.opts.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		if turn.Add(1)%2 == 1 {
			return []netip.Addr{netip.MustParseAddr(public)}, nil
		}
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}
	_, at := w.door(t, allowAll)
	var got []string
	for range 4 {
		conn, refusal := connect(t, at, "example.org:80")
		if conn != nil {
			conn.Close()
		}
		got = append(got, fmt.Sprint(conn != nil, strings.HasPrefix(refusal, "403")))
	}
	if diff := cmp.Diff([]string{"true false", "false true", "true false", "false true"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{public + ":80", public + ":80"}, w.dialled); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

// One answer is for all connections of a command to a host, also for those whose
// client does not wait for it.
func TestAskedOnce(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	release, asked := make(chan struct{}), make(chan Attempt, 10)
	d, at := w.door(t, func(_ context.Context, a Attempt) error {
		asked <- a
		<-release
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.org/", nil)
	gaveUp := make(chan struct{})
	go func() {
		defer close(gaveUp)
		if res, err := clientOf(t, "http://"+at).Do(req); err == nil {
			res.Body.Close()
			t.Error("it did not wait")
		}
	}()
	<-asked
	cancel()
	<-gaveUp
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if got, want := get(clientOf(t, "http://"+at), "http://example.org/x"), `200 GET example.org /x ""`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if d.Waited() <= 0 {
		t.Error("the wait for the answer does not count")
	}
	close(release)
	wg.Wait()
	if len(asked) != 0 {
		t.Errorf("asked %d times more", len(asked))
	}
	if a, b := d.Waited(), d.Waited(); a != b {
		t.Error("the wait goes on")
	}
}

func TestRefusedIsKept(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	d, at := w.door(t, func(_ context.Context, a Attempt) error {
		return fmt.Errorf("after %d bytes", a.Sent)
	})
	for range 3 {
		get(clientOf(t, "http://"+at), "http://example.org/")
		get(clientOf(t, "http://"+at), "https://secure.example/")
	}
	want := []Refused{{Target{"example.org", 80}, "after 0 bytes"}, {Target{"secure.example", 443}, "after 0 bytes"}}
	if diff := cmp.Diff(want, d.Refused()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(w.lookups) != 0 {
		t.Errorf("looked up %v", w.lookups)
	}
}

// What is judged is the address of a request, not the name it carries.
func TestNoOtherHost(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	_, at := w.door(t, allowAll)
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET http://user:pass@example.org/p HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nConnection: close\r\n\r\n")
	body, _ := io.ReadAll(conn)
	if !strings.HasSuffix(string(body), `GET example.org /p ""`) {
		t.Errorf("%s", body)
	}
}

func TestHalfClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		all, _ := io.ReadAll(conn)
		fmt.Fprintf(conn, "%d bytes", len(all))
	}()
	w := newWorld(t, echoHost, nil)
	w.server = l.Addr().String()
	d, at := w.door(t, allowAll)
	conn, refusal := connect(t, at, "example.org:9000")
	if conn == nil {
		t.Fatal(refusal)
	}
	defer conn.Close()
	sent := strings.Repeat("x", 1<<20)
	if _, err := io.WriteString(conn, sent); err != nil {
		t.Fatal(err)
	}
	if err := closeWrite(conn); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if string(got) != "1048576 bytes" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if diff := cmp.Diff([]Traffic{{"example.org:9000", 1 << 20, 13}}, d.Traffic()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A command that ends takes its connections with it, and no other's.
func TestCloseOfADoor(t *testing.T) {
	block := make(chan struct{})
	w := newWorld(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-block }), nil)
	defer close(block)
	d, at := w.door(t, allowAll)
	_, other := w.door(t, allowAll)
	one, _ := connect(t, at, "example.org:443")
	two, _ := connect(t, other, "example.org:443")
	defer one.Close()
	defer two.Close()
	d.Close()
	if _, err := one.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if _, err := two.Write([]byte("GET / HTTP/1.1\r\n")); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("its listener is open")
	}
}

func TestCloseWhileAsked(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	asked := make(chan struct{})
	_, at := w.door(t, func(ctx context.Context, _ Attempt) error {
		close(asked)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	done := make(chan string)
	go func() { done <- get(clientOf(t, "http://"+at), "http://example.org/") }()
	<-asked
	w.Close()
	<-done
	if err := w.Open(allowAll).Serve(nopListener{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

type nopListener struct{}

func (nopListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (nopListener) Close() error              { return nil }
func (nopListener) Addr() net.Addr            { return &net.TCPAddr{} }

func TestBounds(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	d, at := w.door(t, allowAll)
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go fmt.Fprintf(conn, "GET http://example.org/ HTTP/1.1\r\nX: %s\r\n\r\n", strings.Repeat("y", 2*maxHead))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if !strings.Contains(line, "431") {
		t.Errorf("a long head: %q, %v", line, err)
	}
	d.mu.Lock()
	for range maxDoor {
		d.conns[&counted{Conn: conn, door: d}] = struct{}{}
	}
	d.mu.Unlock()
	if conn, refusal := connect(t, at, "example.org:443"); conn != nil || !strings.HasPrefix(refusal, "503 lathe: the command has too many connections open") {
		t.Errorf("one too many: %q", refusal)
	}
}

func TestLocalTellsDoorsApart(t *testing.T) {
	w := newWorld(t, echoHost, nil)
	one, other := w.Open(allowAll), w.Open(func(context.Context, Attempt) error { return errors.New("no") })
	defer one.Close()
	defer other.Close()
	first, err := one.Local()
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.Local()
	if err != nil || first.Host != second.Host || first.User.Username() == second.User.Username() {
		t.Fatalf("%v and %v, %v", first, second, err)
	}
	if again, _ := one.Local(); again.String() != first.String() {
		t.Errorf("%v became %v", first, again)
	}
	bare := *first
	bare.User = nil
	const page = "http://example.org/"
	for at, want := range map[string]string{
		first.String(): `200 GET example.org / ""`, second.String(): "403 lathe: example.org was not reached: no",
		bare.String(): "407 lathe: this proxy is for commands that lathe runs; use the address in HTTPS_PROXY",
	} {
		if got := get(clientOf(t, at), page); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	name := first.User.Username()
	socks, err := netproxy.SOCKS5("tcp", first.Host, &netproxy.Auth{User: name, Password: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := socks.Dial("tcp", "example.org:80")
	if err != nil {
		t.Fatal(err)
	}
	tunnelled(t, conn, "x")
	one.Close()
	if got := get(clientOf(t, first.String()), page); !strings.HasPrefix(got, "407") {
		t.Errorf("after the end: %s", got)
	}
	for _, auth := range []*netproxy.Auth{nil, {User: "guess", Password: "x"}, {User: name, Password: "x"}} {
		socks, _ := netproxy.SOCKS5("tcp", first.Host, auth, nil)
		if conn, err := socks.Dial("tcp", "example.org:80"); err == nil {
			conn.Close()
			t.Errorf("%v was let in", auth)
		}
	}
}

// What the person's own proxy has to carry goes there, with the name, and what is
// near does not.
func TestUpstream(t *testing.T) {
	far := newWorld(t, echoHost, nil)
	door := far.Open(allowAll)
	defer door.Close()
	at, err := door.Local()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, echoHost, func(o *Options) {
		o.Upstream = func(u *url.URL) (*url.URL, error) {
			if u.Hostname() == "inside.example" {
				return nil, nil
			}
			return at, nil
		}
	})
	_, mine := w.door(t, allowAll)
	far.names["only.there"] = []string{public}
	for _, host := range []string{"example.org", "only.there"} {
		if got, want := get(clientOf(t, "http://"+mine), "http://"+host+"/p"), "200 GET "+host+` /p ""`; got != want {
			t.Errorf("plain: %s, want %s", got, want)
		}
		conn, refusal := connect(t, mine, host+":443")
		if conn == nil {
			t.Fatal(refusal)
		}
		tunnelled(t, conn, "x")
	}
	if conn, refusal := connect(t, mine, "meta.example:443"); conn != nil {
		t.Error("a name that leads to the local link went to the upstream proxy")
	} else if !strings.HasPrefix(refusal, "403") {
		t.Error(refusal)
	}
	for _, target := range []string{"inside.example:443", "10.9.9.9:443"} {
		conn, refusal := connect(t, mine, target)
		if conn == nil {
			t.Fatal(refusal)
		}
		conn.Close()
	}
	if diff := cmp.Diff([]string{"10.1.2.3:443", "10.9.9.9:443"}, w.dialled); diff != "" {
		t.Errorf("dialled here (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{public + ":80", public + ":443", public + ":80", public + ":443"}, far.dialled); diff != "" {
		t.Errorf("dialled there (-want +got):\n%s", diff)
	}
	if conn, refusal := connect(t, mine, "none.example:443"); conn != nil || !strings.HasPrefix(refusal, "502 lathe: the proxy 127.0.0.1") {
		t.Errorf("%q", refusal)
	}
}

func BenchmarkRequest(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer s.Close()
	p := New(Options{})
	defer p.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	d := p.Open(allowAll)
	defer d.Close()
	go func() { _ = d.Serve(l) }()
	direct := &http.Transport{DisableKeepAlives: true}
	proxied := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})}
	for name, tr := range map[string]*http.Transport{"direct": direct, "proxied": proxied} {
		b.Run(name, func(b *testing.B) {
			c := &http.Client{Transport: tr}
			for b.Loop() {
				if got := get(c, s.URL); got != "200 ok" {
					b.Fatal(got)
				}
			}
		})
	}
}
