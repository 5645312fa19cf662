package api

import "lathe"

// Timeline is a page of a session's prompts, oldest first. More says that there are older ones.
type Timeline struct {
	Prompts []Prompted `json:"prompts"`
	More    bool       `json:"more"`
}

// Prompted is a prompt and what came of it.
type Prompted struct {
	MessageID lathe.MessageID `json:"messageID"`
	Seq       int64           `json:"seq"`
	Created   int64           `json:"created"` // in milliseconds since 1970
	Text      string          `json:"text"`    // its beginning
	Steps     int             `json:"steps"`
	Files     []string        `json:"files"` // absolute paths of the files that were changed
}

// FileText is a file as a person reads it. Nothing of it is left out or changed, except that a
// long one ends early.
type FileText struct {
	Path   string `json:"path"` // relative to the directory
	Text   string `json:"text"`
	MIME   string `json:"mime,omitempty"`   // of what is no text
	Base64 string `json:"base64,omitempty"` // a picture
	Size   int    `json:"size"`             // of all of it, in bytes
	Cut    bool   `json:"cut,omitempty"`    // the text ends early
}

// FoundLine is a line of a file that a search found.
type FoundLine struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Spans []Span `json:"spans"`
}

// Span is a piece of a text, in bytes.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// FoundLines are the lines that a search found. More says that there may be more of them.
type FoundLines struct {
	Lines []FoundLine `json:"lines"`
	More  bool        `json:"more"`
}
