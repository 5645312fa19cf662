package provider

import (
	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/llm"
)

// Protocol is a wire format. Each has one adapter below internal/llm.
type Protocol string

// Protocols. Builtin models answer from within the process.
const (
	ProtocolAnthropic  Protocol = "anthropic"
	ProtocolOpenAI     Protocol = "openai"
	ProtocolOpenAIChat Protocol = "openaichat"
	ProtocolGoogle     Protocol = "google"
	ProtocolBuiltin    Protocol = "builtin"
)

// Model is a usable model: what is known about it and the adapter that reaches
// it. It is immutable and safe for concurrent use.
type Model struct {
	Ref      lathe.ModelRef // without a variant
	APIID    string         // what the provider is told
	Name     string
	Family   string
	Released string
	Status   string // "active", "alpha", "beta" or "deprecated"
	NPM      string // OpenCode's adapter name, for the wire and the family rules
	URL      string // base address; empty: the protocol's own
	Protocol Protocol
	LLM      llm.Model // nil in a listing; set by Registry.Lookup

	Limit    catalog.Limit
	Caps     Caps
	Price    catalog.Cost
	Options  map[string]any
	Headers  map[string]string
	Variants []catalog.Variant

	cacheKey  *bool // setCacheKey of the provider's options
	proxied   bool  // litellmProxy of the provider's options
	outputMax int
	origin    *catalog.Model
	priced    bool // by the catalogue or the configuration, be it at nothing
}

// Caps is what a model can do.
type Caps struct {
	Temperature, Reasoning, Attachment, ToolCall bool

	Input, Output catalog.Modality
	// Interleaved is the message field that carries reasoning back, "true" for
	// interleaving without one, or empty.
	Interleaved string
}

// Priced reports whether the price is known: there is one, or the catalogue or the
// configuration says that there is none. Models of lathe's own cost nothing.
func (m *Model) Priced() bool {
	return m.priced || m.Price.Prices != (lathe.Prices{}) || m.Ref.Provider == "offline" || m.Ref.Provider == "script"
}

// Cost returns what a request cost, by the prices that hold for its prompt size.
func (m *Model) Cost(u lathe.Tokens) lathe.Money {
	return m.Price.For(u.Prompt()).Cost(u)
}

// Tokens returns the counts of a reported usage. Negative numbers count as zero.
func (m *Model) Tokens(u llm.Usage) lathe.Tokens {
	return lathe.Tokens{
		Input: max(0, u.Input), Output: max(0, u.Output), Reasoning: max(0, u.Reasoning),
		CacheRead: max(0, u.CacheRead), CacheWrite: max(0, u.CacheWrite),
	}
}

// Variant returns the options of a variant and whether the model has it.
func (m *Model) Variant(name string) (map[string]any, bool) {
	for _, v := range m.Variants {
		if v.Name == name {
			return v.Options, true
		}
	}
	return nil, false
}
