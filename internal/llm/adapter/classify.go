package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/llm"
)

// StatusError returns the error that an HTTP status other than 200 means.
func StatusError(status int, header http.Header, body []byte) *llm.Error {
	p := parseProblem(body)
	e := &llm.Error{
		Status: status, Code: p.code, Message: p.message, Body: clip(string(body)),
		Header: safeHeader(header), RetryAfter: retryAfter(header, p.delay),
	}
	e.Kind, e.Retryable = p.classify(status, len(bytes.TrimSpace(body)) == 0)
	switch strings.ToLower(strings.TrimSpace(header.Get("X-Should-Retry"))) {
	case "true":
		e.Retryable = e.Kind != llm.KindOverflow
	case "false":
		e.Retryable = false
	}
	if e.Message == "" || isHTML(body) {
		e.Message = explainStatus(status, header, body)
	}
	return e
}

// StreamError returns the error for an error object that came with HTTP status
// 200, inside a stream or instead of one.
func StreamError(data []byte) *llm.Error {
	p := parseProblem(data)
	e := &llm.Error{Code: p.code, Message: p.message, Body: clip(string(data)), RetryAfter: p.delay}
	e.Kind, e.Retryable = p.classify(p.status, false)
	if e.Message == "" {
		e.Message = "the provider reported an error in its answer"
		if p.code != "" {
			e.Message += ": " + p.code
		}
	}
	return e
}

// problem is what a provider says about an error, in whatever form.
type problem struct {
	message string
	code    string // the most telling of code, type and status
	names   string // all codes, types, statuses and reasons, lower case
	status  int    // a numeric code that is an HTTP status
	delay   time.Duration
}

func parseProblem(body []byte) problem {
	p := problem{delay: -1}
	var v any
	if json.Unmarshal(body, &v) != nil {
		if !isHTML(body) {
			p.message = firstLine(string(body))
		}
		return p
	}
	p.collect(v, 0)
	return p
}

// maxProblemDepth bounds how deep error objects are looked for.
const maxProblemDepth = 5

// collect gathers from nested error objects; the innermost message wins.
func (p *problem) collect(v any, depth int) {
	switch v := v.(type) {
	case string:
		if p.message == "" {
			p.message = firstLine(v)
		}
	case []any:
		if len(v) > 0 && depth < maxProblemDepth {
			p.collect(v[0], depth+1)
		}
	case map[string]any:
		if depth >= maxProblemDepth {
			return
		}
		for _, key := range []string{"error", "response", "errors"} {
			if inner, ok := v[key]; ok && inner != nil {
				p.collect(inner, depth+1)
			}
		}
		for _, key := range []string{"message", "msg", "detail", "error_description", "title"} {
			if inner, ok := v[key]; ok && p.message == "" {
				p.collect(inner, depth+1)
			}
		}
		p.codes(v)
		p.details(v["details"])
	}
}

func (p *problem) codes(v map[string]any) {
	for _, key := range []string{"code", "status", "type", "reason"} {
		switch c := v[key].(type) {
		case string:
			if p.code == "" && c != "error" {
				p.code = firstLine(c)
			}
			p.names += " " + strings.ToLower(c)
		case float64:
			if c >= 400 && c < 600 && p.status == 0 {
				p.status = int(c)
			}
		}
	}
}

// details reads Google's list of error details: a reason and a retry delay.
func (p *problem) details(v any) {
	list, _ := v.([]any)
	for _, d := range list[:min(len(list), 20)] {
		m, _ := d.(map[string]any)
		if reason, ok := m["reason"].(string); ok {
			p.names += " " + strings.ToLower(reason)
		}
		if s, ok := m["retryDelay"].(string); ok {
			if seconds, err := strconv.ParseFloat(strings.TrimSuffix(s, "s"), 64); err == nil {
				p.delay = clampDelay(seconds)
			}
		}
	}
}

func (p *problem) says(names ...string) bool {
	for _, n := range names {
		if strings.Contains(p.names, n) {
			return true
		}
	}
	return false
}

// classify finds the kind of the error and whether another attempt can help.
// Status 0 is an error object inside a stream, where anything not known to be
// final is worth another attempt.
func (p *problem) classify(status int, bodyless bool) (llm.Kind, bool) {
	message := strings.ToLower(p.message)
	switch {
	case p.says("insufficient_quota", "usage_not_included", "billing", "insufficient_balance", "insufficient_credits"),
		status == http.StatusPaymentRequired, strings.Contains(message, "credit balance is too low"):
		return llm.KindQuota, false
	case p.overflows(status, message, bodyless):
		return llm.KindOverflow, false
	case p.says("content_filter", "content_policy", "responsibleaipolicy"):
		return llm.KindFilter, false
	case status == http.StatusTooManyRequests, p.says("rate_limit", "too_many_requests", "resource_exhausted"):
		return llm.KindRateLimit, true
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		p.says("authentication", "permission_error", "permission_denied", "unauthenticated", "invalid_api_key", "api_key_invalid"):
		return llm.KindAuth, false
	case p.says("overloaded"):
		return llm.KindServer, true
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return llm.KindServer, true
	case status >= 500:
		return llm.KindServer, status != http.StatusNotImplemented
	case status >= 300, p.says("invalid_request", "invalid_prompt", "invalid_argument", "not_found"):
		return llm.KindInvalid, false
	}
	return llm.KindServer, true
}

// overflows reports whether the request was too long for the model.
func (p *problem) overflows(status int, message string, bodyless bool) bool {
	switch {
	case p.says("context_length_exceeded", "model_context_window_exceeded", "request_too_large"):
		return true
	case status == http.StatusTooManyRequests, p.says("rate_limit"), strings.Contains(message, "rate limit"),
		strings.Contains(message, "per minute"), strings.Contains(message, "too many requests"):
		return false
	case status == http.StatusRequestEntityTooLarge, status == http.StatusBadRequest && bodyless:
		return true
	}
	return overflowWords().MatchString(message)
}

// Overflows reports whether a response with this status and message says that the
// request was too long for the model.
func Overflows(status int, message string) bool {
	var p problem
	return p.overflows(status, strings.ToLower(message), false)
}

// overflowWords matches how providers and local servers say that a request is
// too long.
var overflowWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`prompt (is )?too long`, `request_too_large`, `request entity too large`,
		`input is too long for (the )?requested model`,
		`exceeds? the (available )?context (window|size)`,
		`exceeds? (the )?(model'?s? )?maximum context length`,
		`input token count.{0,80}exceeds the maximum`,
		`tokens in request more than max`,
		`maximum prompt length is [\d,]+`,
		`reduce the length of the (messages|input|prompt)`,
		`maximum context length (is|of) [\d,]+`, `context length is only [\d,]+`,
		`maximum allowed input length`,
		`(longer|greater) than the (model'?s )?context (length|window|size)`,
		`exceeds the limit of [\d,]+`,
		`context window exceeds? limit`, `exceeded model token limit`,
		`context[ _](length|window)[ _](was )?exceeded`, `input length (and .{0,40} )?exceeds? (the )?context (length|limit)`,
		`too large for model with [\d,]+ maximum`,
		`prompt has [\d,]+ tokens,? but (the )?configured context size is`,
		`model_context_window_exceeded`, `too many tokens`, `token limit exceeded`,
	}, "|"))
})

func explainStatus(status int, header http.Header, body []byte) string {
	name := strings.ToLower(http.StatusText(status))
	if name == "" {
		name = "an unknown status"
	}
	switch {
	case status >= 300 && status < 400:
		return fmt.Sprintf("the provider redirects to %q, which is not followed so that the key stays with its host; set that address as the base URL", redirectHost(header))
	case isHTML(body) && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return "a gateway or proxy in front of the provider refused the request with a web page; check the network's proxy, the credential and the base URL"
	case isHTML(body):
		return "the address answered with a web page (" + name + "), which a gateway or proxy does; check the base URL or try again later"
	}
	return "the provider answered: " + name
}

func redirectHost(header http.Header) string {
	location, _, _ := strings.Cut(header.Get("Location"), "?")
	return firstLine(location)
}

func isHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 1024)]))
	return bytes.HasPrefix(head, []byte("<"))
}

// maxDelay is the longest pause that a provider can ask for; longer ones are
// mistakes or malice. The turn has its own, lower limit.
const maxDelay = 24 * time.Hour

// retryAfter reads what the headers ask for, else returns fallback.
func retryAfter(header http.Header, fallback time.Duration) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(header.Get("Retry-After-Ms")), 64); err == nil {
		return clampDelay(ms / 1000)
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return clampDelay(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return fallback
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return clampDelay(at.Sub(now).Seconds())
}

func clampDelay(seconds float64) time.Duration {
	switch {
	case seconds > maxDelay.Seconds():
		return maxDelay
	case seconds > 0: // false for NaN
		return time.Duration(seconds * float64(time.Second))
	}
	return 0
}

// safeHeader copies response headers without cookies.
func safeHeader(header http.Header) http.Header {
	h := header.Clone()
	h.Del("Set-Cookie")
	return h
}

const maxMessage = 2000

// firstLine makes one bounded line of text from outside.
func firstLine(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	return shorten(s, maxMessage)
}

// shorten cuts a text to n bytes.
func shorten(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

func clip(s string) string {
	if len(s) > maxBody {
		s = s[:maxBody]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
