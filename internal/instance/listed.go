package instance

import (
	"lathe/internal/api"
	"lathe/internal/catalog"
	"lathe/internal/provider"
)

// ListedProvider describes a provider and its models in the words of faces.
func ListedProvider(p *provider.Provider) api.ListedProvider {
	out := api.ListedProvider{ID: p.ID, Name: p.Name, Source: p.Source, Env: p.Env, NPM: p.NPM, URL: p.API, Models: make([]api.ListedModel, len(p.Models))}
	for i, m := range p.Models {
		out.Models[i] = listedModel(m)
	}
	return out
}

func listedModel(m *provider.Model) api.ListedModel {
	out := api.ListedModel{
		Ref: m.Ref, APIID: m.APIID, Name: m.Name, Family: m.Family, Released: m.Released, Status: m.Status, NPM: m.NPM, URL: m.URL,
		Context: m.Limit.Context, Input: m.Limit.Input, Output: m.Limit.Output, Price: m.Price.Prices, PriceOver200K: m.Price.Over200K,
		Abilities: api.Abilities{
			Temperature: m.Caps.Temperature, Reasoning: m.Caps.Reasoning, Attachment: m.Caps.Attachment, ToolCall: m.Caps.ToolCall,
			Takes: kindsOf(m.Caps.Input), Gives: kindsOf(m.Caps.Output), Interleaved: m.Caps.Interleaved,
		},
	}
	for _, v := range m.Variants {
		out.Variants = append(out.Variants, api.Variant(v))
	}
	return out
}

func kindsOf(m catalog.Modality) api.Kinds {
	return api.Kinds{
		Text: m.Has(catalog.Text), Audio: m.Has(catalog.Audio), Image: m.Has(catalog.Image),
		Video: m.Has(catalog.Video), PDF: m.Has(catalog.PDF),
	}
}
