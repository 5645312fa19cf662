package oidc

import (
	"encoding/json"
	"errors"
	"math"
	"time"
)

// claims are what a token says.
type claims map[string]json.RawMessage

// text returns a claim that is a text; "" for another.
func (c claims) text(name string) (out string) {
	_ = json.Unmarshal(c[name], &out) // another kind is as good as none
	return out
}

// yes reports whether a claim is true; some issuers write it as a text.
func (c claims) yes(name string) bool {
	var b bool
	if json.Unmarshal(c[name], &b) == nil {
		return b
	}
	return c.text(name) == "true"
}

// list returns the texts of a claim that has one or several.
func (c claims) list(name string) (out []string) {
	if one := c.text(name); one != "" {
		return []string{one}
	}
	if json.Unmarshal(c[name], &out) != nil {
		return nil
	}
	return out
}

// time returns a claim that is a time, and whether there is one.
func (c claims) time(name string) (at time.Time, set bool, err error) {
	raw, ok := c[name]
	if !ok || string(raw) == "null" {
		return at, false, nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil || math.Abs(seconds) > 1<<40 {
		return at, false, errors.New("a time of the token cannot be read")
	}
	return time.Unix(int64(seconds), 0), true, nil
}
