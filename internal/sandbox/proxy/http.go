package proxy

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// serveHTTP answers one request to the proxy.
func (p *Proxy) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		return
	}
	defer p.wg.Done()
	c, ok := r.Context().Value(clientKey{}).(*client)
	if !ok {
		answerText(w, http.StatusInternalServerError, "the connection is nobody's")
		return
	}
	door := c.who(user(r.Header.Get("Proxy-Authorization")))
	switch {
	case door == nil:
		w.Header().Set("Proxy-Authenticate", `Basic realm="lathe"`)
		answerText(w, http.StatusProxyAuthRequired, "this proxy is for commands that lathe runs; use the address in HTTPS_PROXY")
	case r.Method == http.MethodConnect:
		door.tunnel(w, r, c)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		door.forward(w, r)
	default:
		answerText(w, http.StatusBadRequest, "this is a proxy: it takes CONNECT and requests for http://")
	}
}

// begin makes Close wait for a request, whose connection may be taken over from the server.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Add(1)
	}
	return !p.closed
}

// user returns the user name of basic credentials.
func user(credentials string) string {
	kind, rest, _ := strings.Cut(credentials, " ")
	if !strings.EqualFold(kind, "Basic") {
		return ""
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(plain), ":")
	return name
}

func answerText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Proxy", "lathe")
	w.WriteHeader(status)
	fmt.Fprintf(w, "lathe: %s\n", text)
}

// status is the HTTP status for a failure to reach a target.
func status(err error) int {
	var timeout interface{ Timeout() bool }
	_, refused := errors.AsType[*Refused](err)
	switch {
	case refused:
		return http.StatusForbidden
	case errors.Is(err, errTarget):
		return http.StatusBadRequest
	case errors.Is(err, errMany):
		return http.StatusServiceUnavailable
	case errors.As(err, &timeout) && timeout.Timeout():
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// tunnel answers CONNECT.
func (d *Door) tunnel(w http.ResponseWriter, r *http.Request, c *client) {
	t, err := ParseTarget(r.Host, 0)
	if err != nil {
		answerText(w, http.StatusBadRequest, err.Error())
		return
	}
	to, err := d.admit(r.Context(), t, false)
	var out net.Conn
	if err == nil {
		out, err = d.connect(r.Context(), to)
	}
	if err != nil {
		answerText(w, status(err), err.Error())
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		out.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // what came with the request
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err == nil {
		if len(early) > 0 {
			_, err = out.Write(early)
		}
		if err == nil {
			join(c, out)
			return
		}
	}
	conn.Close()
	out.Close()
}

type routeKey struct{}

// forward forwards a plain request.
func (d *Door) forward(w http.ResponseWriter, r *http.Request) {
	t, err := ParseTarget(r.URL.Host, 80)
	if err != nil {
		answerText(w, http.StatusBadRequest, err.Error())
		return
	}
	to, err := d.admit(r.Context(), t, true)
	if err != nil {
		answerText(w, status(err), err.Error())
		return
	}
	host := t.String()
	if t.Port == 80 {
		host = strings.TrimSuffix(host, ":80")
	}
	send := httputil.ReverseProxy{
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Host, out.Out.Host, out.Out.URL.User = host, host, nil
		},
		Transport: d.transport(), FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { answerText(w, status(err), err.Error()) },
	}
	send.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), routeKey{}, to)))
}

// transport makes the connections for plain requests, along the route that was
// allowed for the request.
func (d *Door) transport() http.RoundTripper {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pooled == nil {
		d.pooled = &http.Transport{
			Proxy: func(r *http.Request) (*url.URL, error) { return routeOf(r.Context()).via, nil },
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				to := routeOf(ctx)
				if to.via == nil {
					return d.connect(ctx, to)
				}
				var dialer net.Dialer
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return d.enter(conn, to.Target)
			},
			DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: idleTime, MaxResponseHeaderBytes: 1 << 20,
		}
	}
	return d.pooled
}

func routeOf(ctx context.Context) route {
	r, _ := ctx.Value(routeKey{}).(route)
	return r
}
