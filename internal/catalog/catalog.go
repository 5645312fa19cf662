// Package catalog knows providers and their models: addresses, key variables,
// limits, prices and capabilities. A copy is embedded, a newer one is fetched
// when the machine is online and kept in the cache, and both are read one
// provider at a time, so that a start pays only for what it uses.
//
// The data are those of models.dev (see LICENSE-models.dev).
package catalog

import (
	"fmt"
	"sync"

	"lathe"
)

//go:generate go run ./gen $MODELS_FACTS catalog.bin

// Provider is an account and address, and the models behind it.
type Provider struct {
	ID     string
	Name   string
	Env    []string // variables that hold its key
	NPM    string   // OpenCode's name of the adapter; selects the protocol
	API    string   // base URL; may hold ${VARIABLE}; empty: the protocol's own
	Models []Model  // in catalogue order
}

// Model returns the model with the id, or nil.
func (p *Provider) Model(id string) *Model {
	for i := range p.Models {
		if p.Models[i].ID == id {
			return &p.Models[i]
		}
	}
	return nil
}

// Model is what is known about one model: a record, with one field for each fact.
type Model struct {
	ID       string // what people type
	APIID    string // what the API is told; empty: ID
	Name     string
	Family   string
	Released string // "2026-09-22"
	Status   string // "alpha", "beta", "deprecated" or empty
	NPM, API string // if they differ from the provider's

	Attachment, Reasoning, Temperature, ToolCall bool

	// Interleaved is the message field that carries reasoning back, "true" for
	// a model that interleaves without one, or empty.
	Interleaved   string
	Input, Output Modality
	Limit         Limit
	Cost          Cost
	Options       map[string]any
	Headers       map[string]string

	// ReasoningOptions say how reasoning can be set. Variants are the finished
	// sets of provider options; when HasVariants is false they follow from
	// ReasoningOptions and the protocol.
	ReasoningOptions []ReasoningOption
	Variants         []Variant
	HasVariants      bool
}

// Limit is measured in tokens; zero means unknown. Input is zero if only the
// whole window is limited.
type Limit struct{ Context, Input, Output int }

// Cost is a price list. The Over200K prices hold for prompts of more than
// 200,000 tokens, those of a Tier for prompts of more than its Size.
type Cost struct {
	lathe.Prices
	Over200K *lathe.Prices
	Tiers    []Tier
}

// Tier is the price list for prompts of more than Size tokens.
type Tier struct {
	Size   int64
	Prices lathe.Prices
}

// For returns the prices that hold for a prompt of the size.
func (c Cost) For(prompt int64) lathe.Prices {
	best, size := c.Prices, int64(0)
	if c.Over200K != nil && prompt > 200_000 {
		best, size = *c.Over200K, 200_000
	}
	for _, t := range c.Tiers {
		if prompt > t.Size && t.Size >= size {
			best, size = t.Prices, t.Size
		}
	}
	return best
}

// ReasoningOption is one way to set reasoning: Type is "effort" with Values,
// "toggle", or "budget_tokens" with Min and Max.
type ReasoningOption struct {
	Type   string   `json:"type"`
	Values []string `json:"values,omitempty"`
	Min    int      `json:"min,omitempty"`
	Max    int      `json:"max,omitempty"`
}

// Variant is a named set of provider options.
type Variant struct {
	Name    string
	Options map[string]any
}

// Modality is a set of kinds of content.
type Modality uint8

// Kinds of content.
const (
	Text Modality = 1 << iota
	Image
	Audio
	Video
	PDF
)

var modalityNames = []string{"text", "image", "audio", "video", "pdf"}

// Has reports whether the set holds all of m.
func (s Modality) Has(m Modality) bool { return s&m == m }

// List returns the names of the set's kinds.
func (s Modality) List() []string {
	var names []string
	for i, n := range modalityNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Modalities returns the set of the named kinds; unknown names are left out.
func Modalities(names []string) Modality {
	var s Modality
	for _, name := range names {
		for i, n := range modalityNames {
			if n == name {
				s |= 1 << i
			}
		}
	}
	return s
}

// Info is what the index says of a provider.
type Info struct {
	ID, Name string
	Env      []string
	NPM, API string
	Count    int // of models
}

// Catalog is a set of providers, read on demand. It is safe for concurrent use
// and never changes; a refresh makes a new one.
type Catalog struct {
	infos  []Info
	chunks []chunk
	byID   map[string]int
	data   []byte
	behind *Catalog // asked for what cannot be decoded here

	mu    sync.Mutex
	cache map[string]*Provider
}

// Providers returns the index, in catalogue order. The caller does not change it.
func (c *Catalog) Providers() []Info { return c.infos }

// Info returns the index entry of a provider.
func (c *Catalog) Info(id string) (Info, bool) {
	i, ok := c.byID[id]
	if !ok {
		return Info{}, false
	}
	return c.infos[i], true
}

// Provider returns a provider with its models; nil when the catalogue has no
// such provider. The caller does not change it.
func (c *Catalog) Provider(id string) (*Provider, error) {
	i, ok := c.byID[id]
	if !ok {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.cache[id]; p != nil {
		return p, nil
	}
	p, err := c.decodeProvider(i)
	if err != nil && c.behind != nil {
		p, err = c.behind.Provider(id)
	}
	if err != nil {
		return nil, fmt.Errorf("catalogue entry of %q: %w", id, err)
	}
	c.cache[id] = p
	return p, nil
}

// New returns a catalogue of the providers, which must not change afterwards.
func New(providers []Provider) *Catalog {
	c := &Catalog{byID: map[string]int{}, cache: map[string]*Provider{}}
	for i := range providers {
		p := &providers[i]
		if _, dup := c.byID[p.ID]; dup {
			continue
		}
		c.byID[p.ID] = len(c.infos)
		c.infos = append(c.infos, infoOf(p))
		c.cache[p.ID] = p
	}
	return c
}

func infoOf(p *Provider) Info {
	return Info{p.ID, p.Name, p.Env, p.NPM, p.API, len(p.Models)}
}
