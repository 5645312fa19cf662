// Command gen makes the embedded catalogue from a file of facts:
//
//	gen facts.json catalog.bin
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/jsonc"
)

type facts struct {
	Providers []struct {
		ID, Name, NPM string
		Env           []string
		BaseURL       string `json:"base_url"`
		Models        []model
	}
}

type model struct {
	ID, Name, Family, NPM, Released, Status string

	Context, Output int
	InputLimit      int    `json:"input_limit"`
	APIID           string `json:"api_id"`
	Caps, In, Out   []string
	Cost            struct {
		In, Out    json.Number
		CacheRead  json.Number `json:"cache_read"`
		CacheWrite json.Number `json:"cache_write"`
	}
	Over        json.RawMessage `json:"cost_over_200k"` // one list or several tiers
	Interleaved json.RawMessage
	Variants    json.RawMessage
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen facts.json catalog.bin")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var f facts
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	var list []catalog.Provider
	for _, p := range f.Providers {
		cp := catalog.Provider{ID: p.ID, Name: p.Name, Env: p.Env, NPM: p.NPM, API: p.BaseURL}
		for _, m := range p.Models {
			cm, err := convert(m, p.NPM)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", p.ID, m.ID, err)
			}
			cp.Models = append(cp.Models, cm)
		}
		list = append(list, cp)
	}
	packed, err := catalog.Encode(list)
	if err != nil {
		return err
	}
	return os.WriteFile(out, packed, 0o644)
}

func convert(m model, npm string) (catalog.Model, error) {
	c := catalog.Model{
		ID: m.ID, APIID: m.APIID, Name: m.Name, Family: m.Family, Released: m.Released,
		Interleaved: interleaved(m.Interleaved),
		Input:       catalog.Modalities(m.In), Output: catalog.Modalities(m.Out),
		Limit:       catalog.Limit{Context: m.Context, Input: m.InputLimit, Output: m.Output},
		HasVariants: true,
	}
	if m.NPM != npm {
		c.NPM = m.NPM
	}
	if m.Status != "active" {
		c.Status = m.Status
	}
	caps := strings.Join(m.Caps, " ")
	c.Temperature = strings.Contains(caps, "temperature")
	c.Reasoning = strings.Contains(caps, "reasoning")
	c.Attachment = strings.Contains(caps, "attachment")
	c.ToolCall = strings.Contains(caps, "toolcall")
	err := prices(&c.Cost.Prices, m.Cost.In, m.Cost.Out, m.Cost.CacheRead, m.Cost.CacheWrite)
	if len(m.Over) > 0 && err == nil {
		err = over(&c.Cost, m.Over)
	}
	if err != nil || len(m.Variants) == 0 {
		return c, err
	}
	v, err := jsonc.Parse("variants", m.Variants) // the order of levels counts
	if err != nil {
		return c, err
	}
	for _, e := range v.Members {
		c.Variants = append(c.Variants, catalog.Variant{Name: e.Key, Options: e.Value.Map()})
	}
	return c, nil
}

func prices(p *lathe.Prices, in, out, read, write json.Number) error {
	for _, x := range []struct {
		dst *lathe.Price
		src json.Number
	}{{&p.Input, in}, {&p.Output, out}, {&p.CacheRead, read}, {&p.CacheWrite, write}} {
		if x.src == "" {
			continue
		}
		var err error
		if *x.dst, err = lathe.ParsePrice(x.src.String()); err != nil {
			return err
		}
	}
	return nil
}

type overPrices struct {
	Input, Output json.Number
	Cache         struct{ Read, Write json.Number }
	Tier          struct{ Size int64 }
}

func (o overPrices) prices() (p lathe.Prices, err error) {
	err = prices(&p, o.Input, o.Output, o.Cache.Read, o.Cache.Write)
	return p, err
}

func over(c *catalog.Cost, raw json.RawMessage) error {
	var one *overPrices
	if json.Unmarshal(raw, &one) == nil {
		if one == nil {
			return nil
		}
		p, err := one.prices()
		c.Over200K = &p
		return err
	}
	var many []overPrices
	if err := json.Unmarshal(raw, &many); err != nil {
		return err
	}
	for _, o := range many {
		p, err := o.prices()
		if err != nil {
			return err
		}
		c.Tiers = append(c.Tiers, catalog.Tier{Size: o.Tier.Size, Prices: p})
	}
	return nil
}

func interleaved(raw json.RawMessage) string {
	var on bool
	if json.Unmarshal(raw, &on) == nil && on {
		return "true"
	}
	var f struct{ Field string }
	_ = json.Unmarshal(raw, &f) // absent: none
	return f.Field
}
