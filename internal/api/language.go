package api

// Symbol is something with a name that language servers found in a directory.
type Symbol struct {
	Name     string         `json:"name"`
	Kind     int            `json:"kind"` // as the language server protocol numbers it
	Location SymbolLocation `json:"location"`
}

// SymbolLocation says where a symbol is.
type SymbolLocation struct {
	URI   string      `json:"uri"`
	Range SymbolRange `json:"range"`
}

// SymbolRange goes from Start up to End, which is not part of it.
type SymbolRange struct {
	Start SymbolPlace `json:"start"`
	End   SymbolPlace `json:"end"`
}

// SymbolPlace counts from 0; Character counts UTF-16 units.
type SymbolPlace struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// LanguageServers are the language servers of a directory.
type LanguageServers struct {
	On      bool             `json:"on"` // whether the configuration switches any on
	Servers []LanguageServer `json:"servers"`
}

// LanguageServer is a language server that was started for a root.
type LanguageServer struct {
	ID       string `json:"id"`
	Root     string `json:"root"`
	State    string `json:"state"`         // connected, starting or error
	Why      string `json:"why,omitempty"` // of an error
	Errors   int    `json:"errors"`        // that it knows of
	Warnings int    `json:"warnings"`
	Memory   int64  `json:"memory"` // bytes; 0 where that is not known
	// Log is what it printed on its standard error last: at most 20 lines and 2,000 bytes.
	Log []string `json:"log,omitempty"`
}

// LanguageServerName names a language server that was started.
type LanguageServerName struct {
	ID   string `json:"id"`
	Root string `json:"root"`
}
