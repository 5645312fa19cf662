package adapter

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"lathe/internal/llm"
	"lathe/internal/redact"
)

// networkError says why no response came. reached says that the provider has
// answered before.
func networkError(ctx context.Context, err error, reached bool) error {
	if e, ok := errors.AsType[*llm.Error](context.Cause(ctx)); ok {
		return e
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	e := &llm.Error{Kind: llm.KindNetwork, Retryable: true, RetryAfter: -1, Cause: err}
	host := "the provider"
	if u, ok := errors.AsType[*url.Error](err); ok {
		if parsed, perr := url.Parse(u.URL); perr == nil && parsed.Host != "" {
			host = parsed.Host
		}
		err = u.Err
	}
	explainNetwork(e, host, err, reached)
	return e
}

func explainNetwork(e *llm.Error, host string, err error, reached bool) {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case isProxy(err):
		e.Message = fmt.Sprintf("the proxy on the way to %s cannot be reached: %v; check HTTPS_PROXY, HTTP_PROXY and NO_PROXY", host, err)
	case isDNS && dns.IsNotFound:
		e.Retryable = reached
		e.Message = fmt.Sprintf("the name %q cannot be resolved; check the network and the base URL", dns.Name)
	case isDNS:
		e.Message = fmt.Sprintf("resolving %q failed: %v", dns.Name, dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = fmt.Sprintf("%s refused the connection; is the server running, and the base URL right?", host)
	case isTLS(err):
		e.Retryable = false
		e.Message = fmt.Sprintf("no secure connection to %s: %v", host, err)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Message = "connection reset by " + host
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = host + " closed the connection without an answer"
	case isNet && netErr.Timeout():
		e.Kind, e.Message = llm.KindTimeout, host+" did not answer in time"
	case strings.Contains(err.Error(), "unsupported protocol scheme"), strings.Contains(err.Error(), "invalid header field"):
		e.Kind, e.Retryable = llm.KindInvalid, false
		e.Message = fmt.Sprintf("the request to %s cannot be sent: %v", host, err)
	default:
		e.Message = fmt.Sprintf("reaching %s failed: %v", host, err)
	}
}

// isProxy reports whether it was a proxy that could not be reached.
func isProxy(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "proxyconnect"
}

func isTLS(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verify || unknown || name || record || alert || errors.Is(err, http.ErrSchemeMismatch)
}

// cutError is the error of a body that ended, or could not be read on, before
// the answer was complete.
func cutError(err error) error {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	message := "the provider's answer was cut off"
	if errors.Is(err, syscall.ECONNRESET) {
		message += ": connection reset"
	}
	return &llm.Error{Kind: llm.KindCut, Message: message, Retryable: true, RetryAfter: -1, Cause: err}
}

// redact removes the call's credentials, and whatever else looks like one, from
// everything that an error shows: some providers repeat the key they refuse, and a
// gateway in between may reveal its own.
func (t *Transport) redact(err error, c Call) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	own := strings.NewReplacer(t.secrets(c)...)
	hide := func(text string) string { return redact.Text(own.Replace(text)) }
	clean := *e
	clean.Message, clean.Body, clean.Code = hide(e.Message), hide(e.Body), own.Replace(e.Code)
	clean.Header = e.Header.Clone()
	for _, values := range clean.Header {
		for i, v := range values {
			values[i] = hide(v)
		}
	}
	return &clean
}

// minSecret is the shortest credential that is looked for; shorter ones are
// placeholders such as "none".
const minSecret = 6

// secrets returns pairs of a credential and its replacement.
func (t *Transport) secrets(c Call) []string {
	var pairs []string
	add := func(s string) {
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[key]")
		}
	}
	add(t.endpoint.Key)
	for _, header := range []map[string]string{t.endpoint.Header, c.Request.Headers} {
		for name, value := range header {
			name = strings.ToLower(name)
			if name == "authorization" || name == "cookie" || strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "secret") {
				_, token, ok := strings.Cut(value, " ")
				add(value)
				if ok {
					add(token)
				}
			}
		}
	}
	return pairs
}
