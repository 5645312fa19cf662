package api

// Window is what the next request of a session would send, and what that costs.
type Window struct {
	Used         int64       `json:"used"`   // tokens, estimated
	Limit        int64       `json:"window"` // of the model; 0: unknown
	Usable       int64       `json:"usable"` // what is compacted at; 0: unknown
	Counted      int64       `json:"counted"`
	Fresh        string      `json:"fresh"`  // money, with nothing cached
	Cached       string      `json:"cached"` // money, with all of it in the provider's cache
	Kinds        []Portion   `json:"kinds"`
	Parts        []Portion   `json:"parts"` // the largest
	Compactions  int         `json:"compactions"`
	Prunes       int         `json:"prunes"`
	CacheRead    int64       `json:"read"`
	CacheWritten int64       `json:"written"`
	CacheFresh   int64       `json:"sent"` // neither read from a cache nor written to it
	ByModel      []ModelCost `json:"byModel"`
}

// Portion is something that fills a window.
type Portion struct {
	Name   string `json:"name"`
	Part   string `json:"part,omitempty"` // where it stands, for the recall tool: "12.3"
	Count  int    `json:"count"`
	Tokens int64  `json:"tokens"`
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
