package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe"
)

// Limits on what Parse keeps of a foreign catalogue.
const (
	maxModels = 20_000 // of one provider
	maxText   = 500    // bytes of a name or an address
)

type (
	jsonProvider struct {
		ID, Name, NPM, API string
		Env                []string
		Models             map[string]json.RawMessage
	}
	jsonModel struct {
		ID, Name, Family, Status string
		Released                 string `json:"release_date"`
		Attachment, Reasoning    bool
		Temperature              bool
		ToolCall                 bool            `json:"tool_call"`
		Interleaved              json.RawMessage `json:"interleaved"`
		Cost                     *jsonCost
		Limit                    struct{ Context, Input, Output float64 }
		Modalities               struct{ Input, Output []string }
		Provider                 struct{ NPM, API string }
		Options                  map[string]any
		Headers                  map[string]string
		ReasoningOptions         []json.RawMessage `json:"reasoning_options"`
		Experimental             json.RawMessage
	}
	jsonCost struct {
		jsonPrices
		Over  *jsonPrices `json:"context_over_200k"`
		Tiers []struct {
			jsonPrices
			Tier struct {
				Type string
				Size float64
			}
		}
	}
	jsonPrices struct {
		Input      json.Number
		Output     json.Number
		Reasoning  json.Number
		CacheRead  json.Number `json:"cache_read"`
		CacheWrite json.Number `json:"cache_write"`
	}
	jsonModes struct {
		Modes map[string]struct {
			Cost     *jsonCost
			Provider struct {
				Body    map[string]any
				Headers map[string]string
			}
		}
	}
)

// Parse reads a catalogue in the shape of models.dev (api.json). A provider or
// model that does not decode is left out; a document without any usable one is
// an error. Providers and models come sorted by id.
func Parse(data []byte) ([]Provider, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("the catalogue is not a JSON object: %w", err)
	}
	var list []Provider
	for _, id := range slices.Sorted(maps.Keys(doc)) {
		if p, ok := parseProvider(id, doc[id]); ok && len(list) < maxProviders {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the catalogue names no provider with models")
	}
	return list, nil
}

func parseProvider(id string, raw json.RawMessage) (Provider, bool) {
	var j jsonProvider
	if json.Unmarshal(raw, &j) != nil || !sound(id) {
		return Provider{}, false
	}
	p := Provider{ID: id, Name: clip(j.Name), NPM: clip(j.NPM), API: clip(j.API)}
	if p.Name == "" {
		p.Name = id
	}
	for _, e := range j.Env {
		if sound(e) && !strings.Contains(e, ",") {
			p.Env = append(p.Env, e)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(j.Models)) {
		if len(p.Models) >= maxModels {
			break
		}
		if m, modes, ok := parseModel(key, j.Models[key]); ok {
			p.Models = append(append(p.Models, m), modes...)
		}
	}
	return p, len(p.Models) > 0
}

// sound reports whether an id can stand in a line of tab-separated fields.
func sound(id string) bool {
	return id != "" && len(id) <= maxText && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}

func parseModel(id string, raw json.RawMessage) (m Model, modes []Model, ok bool) {
	var j jsonModel
	if !sound(id) || json.Unmarshal(raw, &j) != nil {
		return m, nil, false
	}
	m = Model{
		ID: id, Name: clip(j.Name), Family: clip(j.Family), Released: clip(j.Released),
		NPM: clip(j.Provider.NPM), API: clip(j.Provider.API),
		Attachment: j.Attachment, Reasoning: j.Reasoning, Temperature: j.Temperature, ToolCall: j.ToolCall,
		Interleaved: parseInterleaved(j.Interleaved),
		Input:       Modalities(j.Modalities.Input), Output: Modalities(j.Modalities.Output),
		Limit:   Limit{limit(j.Limit.Context), limit(j.Limit.Input), limit(j.Limit.Output)},
		Options: j.Options, Headers: j.Headers,
	}
	if j.ID != "" && j.ID != id && sound(j.ID) {
		m.APIID = j.ID
	}
	if m.Name == "" {
		m.Name = id
	}
	if m.Input == 0 {
		m.Input = Text
	}
	if m.Output == 0 {
		m.Output = Text
	}
	if slices.Contains([]string{"alpha", "beta", "deprecated"}, j.Status) {
		m.Status = j.Status
	}
	for _, r := range j.ReasoningOptions {
		var o ReasoningOption
		if json.Unmarshal(r, &o) == nil && o.Type != "" {
			m.ReasoningOptions = append(m.ReasoningOptions, o)
		}
	}
	if j.Cost != nil {
		m.Cost = j.Cost.cost()
	}
	return m, parseModes(m, j.Experimental), true
}

func limit(f float64) int {
	if !(f > 0) || f > maxLimit {
		return 0
	}
	return int(f)
}

func parseInterleaved(raw json.RawMessage) string {
	var on bool
	if json.Unmarshal(raw, &on) == nil {
		if on {
			return "true"
		}
		return ""
	}
	var name string
	if json.Unmarshal(raw, &name) == nil && sound(name) {
		return name
	}
	var f struct{ Field string }
	if json.Unmarshal(raw, &f) == nil && sound(f.Field) {
		return f.Field
	}
	return ""
}

// parseModes makes a model of each experimental mode: "<id>-<mode>" with the
// mode's prices, headers and body fields.
func parseModes(base Model, raw json.RawMessage) []Model {
	var j jsonModes
	if json.Unmarshal(raw, &j) != nil {
		return nil
	}
	var list []Model
	for _, name := range slices.Sorted(maps.Keys(j.Modes)) {
		if !sound(name) || len(list) >= 20 {
			continue
		}
		mode, m := j.Modes[name], base
		m.ID, m.Name = base.ID+"-"+name, base.Name+" "+strings.ToUpper(name[:1])+name[1:]
		if m.APIID == "" {
			m.APIID = base.ID
		}
		if mode.Cost != nil {
			m.Cost = mode.Cost.cost()
		}
		m.Headers = maps.Clone(base.Headers)
		m.Options = maps.Clone(base.Options)
		for k, v := range mode.Provider.Headers {
			if m.Headers == nil {
				m.Headers = map[string]string{}
			}
			m.Headers[k] = v
		}
		for k, v := range mode.Provider.Body {
			if m.Options == nil {
				m.Options = map[string]any{}
			}
			m.Options[camel(k)] = v
		}
		list = append(list, m)
	}
	return list
}

// camel turns the snake_case of a wire into the camelCase of options.
func camel(s string) string {
	parts := strings.Split(s, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

func (c *jsonCost) cost() Cost {
	cost := Cost{Prices: c.jsonPrices.prices()}
	if c.Over != nil {
		p := c.Over.prices()
		cost.Over200K = &p
	}
	for _, t := range c.Tiers {
		if t.Tier.Type == "context" && t.Tier.Size > 0 && t.Tier.Size < maxLimit {
			cost.Tiers = append(cost.Tiers, Tier{int64(t.Tier.Size), t.jsonPrices.prices()})
		}
	}
	return cost
}

func (p jsonPrices) prices() lathe.Prices {
	price := func(n json.Number) lathe.Price {
		v, err := lathe.ParsePrice(n.String())
		if err != nil {
			return 0
		}
		return v
	}
	return lathe.Prices{Input: price(p.Input), Output: price(p.Output), Reasoning: price(p.Reasoning),
		CacheRead: price(p.CacheRead), CacheWrite: price(p.CacheWrite)}
}
