package lathe

import "strings"

// Action is what a rule says about a request.
type Action string

// Actions of a rule.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
	AskMe Action = "ask"
	// Review lets a command run with what it changes held back, and asks whether to make
	// the changes, if there are any. Only the permission for commands knows it; for all
	// others it is AskMe.
	Review Action = "review"
)

// Rule allows, denies or asks. Both Permission and Pattern are wildcards: "*"
// is any run of characters, "?" one character. Among the rules that match a
// request the last one wins.
type Rule struct {
	Permission string
	Pattern    string
	Action     Action
}

// LiteralPattern returns the pattern of a [Rule] that matches the text and nothing
// else. What a model or a file system said goes through it before it becomes part
// of a pattern: a directory may well be called "*".
func LiteralPattern(text string) string {
	if !strings.ContainsAny(text, "*?") { // almost every text; a Replacer costs 10 KB to make
		return text
	}
	return strings.NewReplacer("*", "[*]", "?", "[?]").Replace(text)
}

// Ask is a question to the user whether a tool may do something. Patterns is
// what is being done now; Always is what an "always" reply allows from then on.
type Ask struct {
	ID         AskID
	SessionID  SessionID
	Permission string
	Patterns   []string
	Always     []string
	Metadata   map[string]any
	Tool       *ToolRef
}

// ToolRef names the tool call that an ask or a question belongs to.
type ToolRef struct {
	MessageID MessageID
	CallID    string
}

// ReplyKind is the user's answer to an ask.
type ReplyKind string

// Answers to an ask.
const (
	Once   ReplyKind = "once"
	Always ReplyKind = "always"
	Reject ReplyKind = "reject"
)

// Reply answers an ask. Message goes with a rejection and tells the model what to do instead;
// without it a rejection stops the turn. Project makes an "always" permanent: it is stored for this
// project on this machine. Patterns replace the ones that the ask offers for an "always"; if empty,
// those are used. Alone goes with a rejection that a program sends because nobody is there: it
// applies to this ask only, and the turn goes on.
type Reply struct {
	Kind     ReplyKind
	Message  string
	Alone    bool
	Project  bool
	Patterns []string
}

// Question is something a tool wants to know from the user.
type Question struct {
	Text     string
	Header   string
	Options  []QuestionOption
	Multiple bool
	Custom   bool // the user may type an answer
}

// QuestionOption is one offered answer.
type QuestionOption struct{ Label, Description string }

// QuestionAsk is a set of questions waiting for an answer.
type QuestionAsk struct {
	ID        AskID
	SessionID SessionID
	Questions []Question
	Tool      *ToolRef
}
