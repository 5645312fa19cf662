package llm

import (
	"fmt"
	"net/http"
	"time"
)

// Kind classifies an [Error] by what can be done about it.
type Kind string

// Kinds of an Error.
const (
	KindAuth      Kind = "auth"       // 401, 403, missing key
	KindInvalid   Kind = "invalid"    // the provider refused the request as wrong
	KindOverflow  Kind = "overflow"   // the request does not fit the model's window
	KindRateLimit Kind = "rate-limit" // 429
	KindQuota     Kind = "quota"      // no credit left; not retryable
	KindServer    Kind = "server"     // 5xx, overloaded
	KindNetwork   Kind = "network"    // could not connect, connection reset
	KindTimeout   Kind = "timeout"    // connect, first byte or idle time was exceeded
	KindCut       Kind = "cut"        // the stream ended before Finish
	KindProtocol  Kind = "protocol"   // the answer is not what the protocol allows
	KindFilter    Kind = "filter"     // refused by a content filter
)

// Error is everything that can go wrong with a request.
type Error struct {
	Kind       Kind
	Message    string // for people; never holds a credential
	Status     int    // HTTP status, or 0
	Code       string // the provider's own code or type, where it gave one
	Retryable  bool
	RetryAfter time.Duration // what the provider asked for; negative when it did not
	Header     http.Header   // response headers; nil when there was no response
	Body       string        // response body, at most 64 KiB
	Cause      error
}

// Error returns the message with the HTTP status.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
