package chat

import (
	"slices"

	"lathe"
	"lathe/internal/tui/look"
)

// CacheHit returns how much of the last prompt was read from the provider's
// cache, in percent. Providers that tell nothing of one have none.
func (c *Conversation) CacheHit() (int64, bool) {
	for _, e := range slices.Backward(c.visible()) {
		info, ok := e.m.Info.(*lathe.Assistant)
		if !ok || info.Tokens.Prompt() == 0 {
			continue
		}
		t := info.Tokens
		return t.CacheRead * 100 / t.Prompt(), t.CacheRead+t.CacheWrite > 0
	}
	return 0, false
}

// LastTook is how long the last turn took.
func (c *Conversation) LastTook() string {
	for _, e := range slices.Backward(c.visible()) {
		if info, ok := e.m.Info.(*lathe.Assistant); ok {
			if info.Completed.IsZero() {
				return ""
			}
			return look.Duration(info.Completed.Sub(e.asked()))
		}
	}
	return ""
}

// Used returns how many tokens the last answer took, and the model that gave it.
func (c *Conversation) Used() (tokens int64, model lathe.ModelRef) {
	for _, e := range slices.Backward(c.visible()) {
		if info, ok := e.m.Info.(*lathe.Assistant); ok && info.Tokens.Total() > 0 {
			return info.Tokens.Total(), info.Model
		}
	}
	return 0, lathe.ModelRef{}
}
