// Package wire puts the engine's values into the JSON of OpenCode 1.1, and reads
// that JSON back. It is the only place that knows its names, its absent fields
// and its numbers: milliseconds for times, dollars for money.
//
// Encode functions return a value for encoding/json, so that callers can put it
// into a larger answer; [Marshal] writes it as JavaScript would. Decode functions
// take input that nobody has checked. They ignore fields they do not know and
// refuse what they cannot represent. Decoding what was encoded gives the same
// value, with times to the millisecond; what OpenCode has no name for is left
// out: sequence numbers, the share secret, totals of a session, whether a prompt
// steers, the kind of a [lathe.LimitFailure].
//
// Names that only OpenCode 1.18 has (ContextOverflowError, overflow and
// tail_start_id of a compaction, variant of an assistant message, patch and
// status of a diff) are sent when they are set; clients of 1.1 ignore them.
//
// Each file has the JSON of one subject, both ways: message.go, part.go, tool.go, session.go,
// project.go, ask.go, catalog.go, failure.go and event.go. request.go and decode.go read what
// clients send. stream.go says an event as both lines of OpenCode take it, and output.go writes
// frames without copying long texts, which cut.go takes out. own.go is the form of lathe's own
// routes, api.go that of 1.18's.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"lathe"
)

// Marshal encodes a value without HTML escapes and without a final newline.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// number is a JSON number that we send whole; clients may send 1.0 or 1e3.
type number float64

// maxWhole is the largest whole number that JavaScript holds exactly.
const maxWhole = 1<<53 - 1

// UnmarshalJSON refuses what is not a number within JavaScript's exact range.
func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if math.Abs(f) > maxWhole {
		return fmt.Errorf("number %s is out of range", b)
	}
	*n = number(f)
	return nil
}

// MarshalJSON keeps large numbers out of exponent form.
func (n number) MarshalJSON() ([]byte, error) {
	return json.Marshal(int64(n))
}

func count[T ~int | ~int64](v T) number { return number(v) }

// ms is a time; the zero time is 0, which omitempty leaves out.
func ms(t time.Time) number {
	if t.IsZero() {
		return 0
	}
	return number(t.UnixMilli())
}

func (n number) time() time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}

// dollars is money. A dollar has 1e12 of our units, so that amounts up to 2,000
// dollars survive to the last digit.
type dollars float64

func encodeMoney(m lathe.Money) dollars { return dollars(m.USD()) }

func (d dollars) money() (lathe.Money, error) {
	f := math.Round(float64(d) * 1e12)
	if math.IsNaN(f) || math.Abs(f) >= math.MaxInt64 {
		return 0, fmt.Errorf("cost %v is out of range", float64(d))
	}
	return lathe.Money(f), nil
}

// list makes an absent list an empty one: "[]", never null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// object makes an absent map an empty one: "{}", never null.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

type tokens struct {
	Input     number `json:"input"`
	Output    number `json:"output"`
	Reasoning number `json:"reasoning"`
	Cache     cache  `json:"cache"`
}

type cache struct {
	Read  number `json:"read"`
	Write number `json:"write"`
}

func encodeTokens(t lathe.Tokens) tokens {
	return tokens{
		Input: count(t.Input), Output: count(t.Output), Reasoning: count(t.Reasoning),
		Cache: cache{Read: count(t.CacheRead), Write: count(t.CacheWrite)},
	}
}

func (t tokens) decode() lathe.Tokens {
	return lathe.Tokens{
		Input: int64(t.Input), Output: int64(t.Output), Reasoning: int64(t.Reasoning),
		CacheRead: int64(t.Cache.Read), CacheWrite: int64(t.Cache.Write),
	}
}

type model struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

func encodeModel(m lathe.ModelRef) model { return model{m.Provider, m.Model} }

func (m model) decode(variant string) lathe.ModelRef {
	return lathe.ModelRef{Provider: m.ProviderID, Model: m.ModelID, Variant: variant}
}

// span is when something ran. Text has none when it was never streamed.
type span struct {
	Start number `json:"start"`
	End   number `json:"end,omitempty"`
}

func encodeSpan(s lathe.Span) span { return span{ms(s.Start), ms(s.End)} }

func (s *span) decode() lathe.Span {
	if s == nil {
		return lathe.Span{}
	}
	return lathe.Span{Start: s.Start.time(), End: s.End.time()}
}

// header is what every part and attachment starts with.
type header struct {
	ID        lathe.PartID    `json:"id"`
	SessionID lathe.SessionID `json:"sessionID"`
	MessageID lathe.MessageID `json:"messageID"`
	Type      string          `json:"type"`
}
