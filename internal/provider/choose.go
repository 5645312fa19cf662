package provider

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/catalog"
)

// favourites are ids of models that suit the work, best last; asides are
// variants of one that are not meant to be a default.
var (
	favourites = [][]string{{"gpt-5"}, {"gpt-6"}, {"claude-opus"}, {"claude-sonnet"}, {"big-pickle"}, {"gemini-", "pro"}}
	asides     = []string{"-fast", "-mini", "-nano", "-lite", "-chat", "-image", "-tts", "-audio", "-live", "realtime", "embed", "rerank", "whisper",
		"-search", "research", "-spark", "computer-use", "customtools", "safeguard", "guard", "moderation", "-codex", "translate"}
)

// best returns a provider's model to use: a favourite, else the newest.
func best(models []*Model) *Model {
	var top *Model
	for _, m := range models {
		if (m.Caps.ToolCall || m.Protocol == ProtocolBuiltin) && m.Caps.Output.Has(catalog.Text) && (top == nil || better(m, top)) {
			top = m
		}
	}
	return top
}

func better(a, b *Model) bool {
	return cmp.Or(
		cmp.Compare(aside(b), aside(a)),
		cmp.Compare(favourite(a), favourite(b)),
		cmp.Compare(a.Released, b.Released),
		cmp.Compare(len(b.Ref.Model), len(a.Ref.Model)),
		cmp.Compare(b.Ref.Model, a.Ref.Model),
	) > 0
}

func aside(m *Model) int {
	id := strings.ToLower(m.Ref.Model)
	if strings.Contains(id, "gpt") && strings.HasSuffix(id, "-pro") ||
		slices.ContainsFunc(asides, func(s string) bool { return strings.Contains(id, s) }) {
		return 1
	}
	return 0
}

func favourite(m *Model) int {
	id, at := strings.ToLower(m.Ref.Model), -1
	for i, words := range favourites {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(id, w) }) {
			at = i
		}
	}
	return at
}

// smallFamilies are looked for in this order, by provider; "" is for all others.
var smallFamilies = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"":               {"gemini-flash", "gpt-nano", "claude-haiku"},
		"opencode":       {"gpt-nano"},
		"github-copilot": {"gpt-mini", "claude-haiku", "gemini-flash", "gpt-nano"},
		"azure":          {},
	}
})

// Small returns the model for titles and other small requests that goes with a
// model: the configured one, else the newest small one of the same provider,
// else the model itself.
func (r *Registry) Small(ref lathe.ModelRef) lathe.ModelRef {
	if r.conf.SmallModel != "" {
		if small, err := r.ParseRef(r.conf.SmallModel); err == nil {
			if _, err := r.Lookup(small); err == nil {
				return small
			}
		}
	}
	ref.Variant = ""
	e := r.entries[ref.Provider]
	if e == nil || !e.connected() {
		return ref
	}
	models, err := r.models(e)
	if err != nil {
		return ref
	}
	families, ok := smallFamilies()[ref.Provider]
	if !ok {
		families = smallFamilies()[""]
	}
	for _, family := range families {
		var top *Model
		for _, m := range models {
			if m.Family == family && m.Caps.Output == catalog.Text && aside(m) <= smallAside(family) && (top == nil || better(m, top)) {
				top = m
			}
		}
		if top != nil {
			return top.Ref
		}
	}
	return ref
}

// smallAside allows the words "mini" and "nano" in families named so.
func smallAside(family string) int {
	if strings.HasPrefix(family, "gpt-") {
		return 1
	}
	return 0
}
