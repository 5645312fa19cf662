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
