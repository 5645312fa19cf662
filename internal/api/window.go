package api

import "lathe"

// Window is what the next request of a session would send, and what that costs: a page of
// figures, one field for each.
type Window struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Title     string          `json:"title"` // the session's title
	Model     string          `json:"model"`

	Used       int64       `json:"used"`    // tokens, estimated and corrected
	Limit      int64       `json:"window"`  // the model's window; 0: unknown
	Usable     int64       `json:"usable"`  // where compaction begins; 0: unknown
	Counted    int64       `json:"counted"` // tokens counted by the provider for the newest answer; 0: not reported
	Factor     float64     `json:"factor"`  // by which estimates are corrected
	Fresh      string      `json:"fresh"`   // Cost in words
	Cached     string      `json:"cached"`  // CostCached in words
	Cost       lathe.Money `json:"cost"`    // with nothing in the provider's cache
	CostCached lathe.Money `json:"costCached"`
	Frees      int64       `json:"frees"` // tokens that a compaction would replace by a summary; 0: none, or unknown

	Kinds   []Portion   `json:"kinds"` // what fills the window, largest first
	Parts   []Portion   `json:"parts"` // the largest parts
	ByModel []ModelCost `json:"byModel"`

	Budget   []BudgetUse `json:"budget,omitempty"`   // what of the configured budget is used
	Unpriced bool        `json:"unpriced,omitempty"` // the price of the model is not known: costs are too low

	// What has happened to the window so far. Stats has all of it.
	Compactions  int         `json:"compactions"`
	Prunes       int         `json:"prunes"`
	CacheRead    int64       `json:"read"`
	CacheWritten int64       `json:"written"`
	CacheFresh   int64       `json:"sent"` // neither read from a cache nor written to it
	Stats        WindowStats `json:"stats"`
}

// Budget is what of the configured budget is used; without one it is empty.
type Budget struct {
	Uses []BudgetUse `json:"uses"`
	// Unpriced names the model whose price is not known, where a budget is one of money.
	Unpriced string `json:"unpriced,omitempty"`
}

// Worst returns the limit that is nearest; nil where there is none.
func (b Budget) Worst() *BudgetUse {
	var out *BudgetUse
	for i := range b.Uses {
		if out == nil || b.Uses[i].Percent > out.Percent {
			out = &b.Uses[i]
		}
	}
	return out
}

// BudgetUse is one limit of the configured budget, in words.
type BudgetUse struct {
	For     string `json:"for"`   // this session, today or this project
	Limit   string `json:"limit"` // cost, tokens, steps or time
	Used    string `json:"used"`
	Allowed string `json:"allowed"`
	Percent int64  `json:"percent"`
}

func (b BudgetUse) String() string { return b.Used + " of " + b.Allowed + " for " + b.For }

// Portion is something that fills a window.
type Portion struct {
	Name   string      `json:"name"`
	Part   string      `json:"part,omitempty"` // its place, for the recall tool: "12.3"
	Count  int         `json:"count"`
	Tokens int64       `json:"tokens"`
	Cost   lathe.Money `json:"cost"` // to send it once without a cache
}

// ModelCost is what one model cost in a session.
type ModelCost struct {
	Model    string `json:"model"`
	Answers  int    `json:"answers"`
	Sent     int64  `json:"sent"`
	Cached   int64  `json:"cached"`
	Answered int64  `json:"answered"`
	Cost     string `json:"cost"`
}

// WindowStats counts what has happened to a session's window: compactions, prunes and the
// provider's cache. It is stored with the session in this form.
type WindowStats struct {
	Factors     map[string]float64 `json:"factors,omitempty"` // by which estimates are corrected, by model
	Compactions int                `json:"compactions,omitempty"`
	Prunes      int                `json:"prunes,omitempty"`
	Pruned      int64              `json:"pruned,omitempty"` // tokens that prunes freed
	Cache       CacheStats         `json:"cache"`
}

// CacheStats sums up what a session's requests read from the provider's cache.
type CacheStats struct {
	Requests int   `json:"requests,omitempty"` // that followed another one
	Expected int64 `json:"expected,omitempty"` // tokens they shared with the one before, estimated
	Read     int64 `json:"read,omitempty"`     // tokens the provider read from its cache
	Written  int64 `json:"written,omitempty"`
	Fresh    int64 `json:"fresh,omitempty"` // tokens sent without the cache

	Announced int `json:"announced,omitempty"` // prefixes that a prune or a compaction broke
	Ours      int `json:"ours,omitempty"`      // prefixes that lathe broke in other ways
	Theirs    int `json:"theirs,omitempty"`    // whole prefixes that the provider did not have

	Steps []CacheStep `json:"steps,omitempty"` // the newest ones
}

// CacheStep accounts for one request.
type CacheStep struct {
	Expected int64  `json:"expected"`
	Read     int64  `json:"read"`
	Written  int64  `json:"written,omitempty"`
	Fresh    int64  `json:"fresh,omitempty"`
	Differs  string `json:"differs,omitempty"` // the first piece that differed from the request before
	Reason   string `json:"reason,omitempty"`  // "prune or compaction", "lathe" or "provider"
}
