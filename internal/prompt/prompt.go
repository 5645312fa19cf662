// Package prompt turns stored history, instructions and settings into what a
// model is sent. It is pure: the same input gives the same request, byte for
// byte, so that a provider's prefix cache keeps working.
package prompt

import (
	"embed"
	"fmt"
	"strings"
	"time"
)

//go:embed text/*.md
var texts embed.FS

// text returns an embedded text without its final newline.
func text(name string) string {
	b, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(fmt.Sprintf("prompt: embedded text %s is missing: %v", name, err))
	}
	return strings.TrimRight(string(b), "\n")
}

// Family returns which base prompt a model gets, from its API id. The first
// match counts.
func Family(apiID string) string {
	id := strings.ToLower(apiID)
	switch {
	case strings.Contains(id, "codex"), strings.Contains(id, "gpt-5"), strings.Contains(id, "gpt-6"):
		return "codex"
	case strings.Contains(id, "gpt-"), oSeries(id):
		return "gpt"
	case strings.Contains(id, "gemini"):
		return "gemini"
	case strings.Contains(id, "claude"):
		return "anthropic"
	}
	return "default"
}

// oSeries reports whether an id names one of OpenAI's o models ("o3-mini",
// "openai/o1"), and not just a word with those letters.
func oSeries(id string) bool {
	for word := range strings.FieldsFuncSeq(id, func(r rune) bool { return r == '-' || r == '/' || r == '.' || r == ':' }) {
		if len(word) == 2 && word[0] == 'o' && word[1] >= '1' && word[1] <= '9' {
			return true
		}
	}
	return false
}

// Base returns the base prompt for a model.
func Base(apiID string) string { return text("core") + "\n\n" + text(Family(apiID)) }

// AgentText returns the own prompt of a built-in agent, or "".
func AgentText(agent string) string {
	switch agent {
	case "title", "compaction", "summary", "explore":
		return text(agent)
	}
	return ""
}

// AgentDesign returns the prompt that makes a model design an agent.
func AgentDesign() string { return text("agent") }

// MaxSteps returns the notice for the last step of a limited turn.
func MaxSteps() string { return text("max-steps") }

// Environment is where a session runs.
type Environment struct {
	Dir      string
	Worktree string // "/" outside git
	Git      bool
	Platform string
	Shell    string
	Date     string // see FormatDate
	Model    string // "provider/model"
	Scratch  string // directory for temporary files; may be empty
	Alone    bool   // nobody can answer
	Facts    []Fact // what else a person would see at once
}

// Fact is a line of the environment block.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// block renders the environment for the system prompt.
func (e Environment) block() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You run on the model %s.\n<env>\n", e.Model)
	fmt.Fprintf(&b, "  Working directory: %s\n", e.Dir)
	if e.Git {
		fmt.Fprintf(&b, "  Workspace root: %s\n", e.Worktree)
	}
	fmt.Fprintf(&b, "  Is a git repository: %s\n", yesNo(e.Git))
	fmt.Fprintf(&b, "  Platform: %s\n", e.Platform)
	if e.Shell != "" {
		fmt.Fprintf(&b, "  Shell: %s\n", e.Shell)
	}
	if e.Scratch != "" {
		fmt.Fprintf(&b, "  Directory for temporary files: %s\n", e.Scratch)
	}
	for _, f := range e.Facts {
		fmt.Fprintf(&b, "  %s: %s\n", f.Name, f.Text)
	}
	fmt.Fprintf(&b, "  Today's date: %s\n</env>", e.Date)
	if e.Alone {
		b.WriteString("\n" + aloneText)
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// FormatDate writes a date as the environment block does.
func FormatDate(t time.Time) string { return t.Format("Mon Jan 02 2006") }

// Instruction is the content of an instruction file (AGENTS.md and its like) or URL.
type Instruction struct {
	Path    string
	Content string
}

func (i Instruction) block() string { return "Instructions from: " + i.Path + "\n" + i.Content }

// SystemInput is what the system prompt is made of.
type SystemInput struct {
	APIID        string // chooses the base prompt
	AgentPrompt  string // in place of the base prompt when not empty
	Bare         bool   // the agent prompt alone (title, compaction, summary)
	Env          Environment
	Instructions []Instruction
	Extra        []string // further blocks: skills, MCP servers
}

// System returns the system prompt as at most two blocks: one that is the same
// for every session with the model (or agent), and one for this session's place.
func System(in SystemInput) []string {
	base := in.AgentPrompt
	if base == "" {
		base = Base(in.APIID)
	}
	if in.Bare {
		return []string{base}
	}
	rest := []string{in.Env.block()}
	for _, i := range in.Instructions {
		if strings.TrimSpace(i.Content) != "" {
			rest = append(rest, i.block())
		}
	}
	for _, x := range in.Extra {
		if strings.TrimSpace(x) != "" {
			rest = append(rest, x)
		}
	}
	return []string{base, strings.Join(rest, "\n\n")}
}

// Reminder wraps a note of lathe's own so that the model can tell it from the
// user's words.
func Reminder(note string) string {
	return "<system-reminder>\n" + note + "\n</system-reminder>"
}

// State is what the model was last told about things that may change during a
// session. Differences are announced in the next user message instead of in a
// changed system prompt.
type State struct {
	Agent        string            `json:"agent,omitempty"`
	Date         string            `json:"date,omitempty"`
	Instructions map[string]string `json:"instructions,omitempty"` // path to content hash
	Alone        bool              `json:"alone,omitempty"`        // nobody can answer
	PlanOnly     bool              `json:"planOnly,omitempty"`     // the session's mode of approval refuses every change
}

// What a model is told about who is present.
const (
	aloneText = "Nobody is there to answer in this run. Ask no questions: decide what is unclear as the request most likely means it, and state your assumptions in the answer. " +
		"What would need a permission is refused; go on without it or in another way, and say what was left out."
	planOnlyText = "The user chose to plan only: until they choose otherwise, every tool that changes something is refused, to subagents as well. Read, search and run commands that change nothing, " +
		"and answer with what you would change, where, in which order, and how it would be verified."
	planOverText = "The user no longer wants planning only: changes are possible again. Carry out the plan if there is one and the user wants it."
	attendedText = "A person is there again, who can answer questions and give permissions."
)

// Changes returns the reminders that bring a model from old to now, in a fixed
// order. Contents holds the text of changed instruction files by path.
func Changes(old, now State, contents map[string]string) []string {
	var notes []string
	if old.Date != "" && now.Date != old.Date {
		notes = append(notes, Reminder("The date has changed. Today's date: "+now.Date))
	}
	for _, path := range changedPaths(old.Instructions, now.Instructions) {
		body, still := contents[path]
		if !still {
			notes = append(notes, Reminder("The instruction file "+path+" was removed; its instructions no longer apply."))
			continue
		}
		notes = append(notes, Reminder("The instruction file "+path+" has changed and now reads as follows. It replaces the earlier text.\n\n"+body))
	}
	switch {
	case now.Alone && !old.Alone:
		notes = append(notes, Reminder(aloneText))
	case old.Alone && !now.Alone:
		notes = append(notes, Reminder(attendedText))
	}
	if note := PlanOnlyChange(old.PlanOnly, now.PlanOnly); note != "" {
		notes = append(notes, note)
	}
	return append(notes, modeChange(old.Agent, now.Agent)...)
}

// PlanOnlyChange returns the reminder that a session begins or ends to refuse every change; "" if
// the model knows.
func PlanOnlyChange(old, now bool) string {
	switch {
	case now && !old:
		return Reminder(planOnlyText)
	case old && !now:
		return Reminder(planOverText)
	}
	return ""
}

func modeChange(old, now string) []string {
	switch {
	case now == "plan" && old != "plan":
		return []string{Reminder(text("plan"))}
	case old == "plan" && now != "plan":
		return []string{Reminder(text("build"))}
	}
	return nil
}
