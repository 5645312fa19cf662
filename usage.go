package lathe

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Tokens counts what a request used. Input excludes cached tokens.
type Tokens struct {
	Input      int64
	Output     int64 // excludes reasoning
	Reasoning  int64
	CacheRead  int64
	CacheWrite int64
}

// Add returns the sum of both.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{
		Input:      t.Input + o.Input,
		Output:     t.Output + o.Output,
		Reasoning:  t.Reasoning + o.Reasoning,
		CacheRead:  t.CacheRead + o.CacheRead,
		CacheWrite: t.CacheWrite + o.CacheWrite,
	}
}

// Total returns the sum of all kinds.
func (t Tokens) Total() int64 {
	return t.Input + t.Output + t.Reasoning + t.CacheRead + t.CacheWrite
}

// Prompt returns the tokens the model was sent, cached or not.
func (t Tokens) Prompt() int64 { return t.Input + t.CacheRead + t.CacheWrite }

// Money is an amount in picodollars (1e-12 USD), so that the price of one token
// is a whole number and sums are exact. It overflows at 9 million USD.
type Money int64

const picodollars = 1e12

// USD returns the amount in dollars, for display and for the wire.
func (m Money) USD() float64 { return float64(m) / picodollars }

// String returns the amount as people read it: "$0.0312", "$12.40".
func (m Money) String() string {
	usd := m.USD()
	if m != 0 && math.Abs(usd) < 1 {
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}

// Price is what a million tokens cost, held as picodollars a token.
type Price int64

// ParsePrice reads a decimal number of dollars for a million tokens, such as
// "0.075" or "1.5e-2". More than six digits after the point are rounded.
func ParsePrice(s string) (Price, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e6 {
		return 0, fmt.Errorf("price %q is not a number of dollars from 0 to 1,000,000", s)
	}
	return Price(math.Round(f * 1e6)), nil
}

// Prices is the price list of a model for one range of prompt sizes.
type Prices struct {
	Input, Output, CacheRead, CacheWrite Price
	Reasoning                            Price // zero: the output price
}

// Cost returns what the tokens cost.
func (p Prices) Cost(t Tokens) Money {
	reasoning := p.Reasoning
	if reasoning == 0 {
		reasoning = p.Output
	}
	return Money(t.Input*int64(p.Input) + t.Output*int64(p.Output) + t.Reasoning*int64(reasoning) +
		t.CacheRead*int64(p.CacheRead) + t.CacheWrite*int64(p.CacheWrite))
}
