// Package show prints a run on a terminal or as JSON lines: texts, calls and what came of
// them, asks, and progress of what takes long.
package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/opencode/wire"
	"lathe/internal/printable"
	"lathe/internal/readable"
	"lathe/internal/say"
	"lathe/internal/tui/paint"
	"lathe/internal/tui/theme"
	"lathe/internal/turn"
)

const (
	previewLines = 8  // of a tool's output
	diffLines    = 40 // of a change
)

// Options say how a run is shown.
type Options struct {
	JSON     bool // one event a line
	Quiet    bool // the answer only
	Thinking bool // the model's reasoning, too
	Raw      bool // the answer is written exactly as the model wrote it
	// Theme returns the theme that the person chose, nil for the default. It is asked only
	// where the terminal's background is known.
	Theme func() *theme.Theme
}

// Output shows a run, for people or as JSON lines. The final answer goes to
// standard output, all else to standard error.
type Output struct {
	env     *console.Env
	Style   console.Style
	colours colours // of standard error, as Style is
	Options
	live  bool   // standard output is a terminal: text is shown as it comes
	prose *prose // what shows the text that comes; nil: none does, or it is shown as it is written

	answer   string                  // text of the newest finished text part
	atStart  bool                    // the terminal's current line is empty
	streamed map[lathe.PartID]int    // bytes of text that were shown as they came
	held     map[lathe.PartID]string // end of a delta that may be an incomplete escape sequence
	kind     map[lathe.PartID]string
	shown    map[lathe.PartID]bool
	working  map[lathe.MessageID]bool // answers that began in this run; parts of others were shown before
	Failed   bool                     // the failure of the run was printed
	Progress *Progress                // reports long calls; nil to report none

	mu sync.Mutex // held while something is written
}

// New returns what shows a run on the streams of env.
func New(env *console.Env, o Options) *Output {
	if o.Theme != nil {
		o.Theme = sync.OnceValue(o.Theme)
	}
	c := coloursOf(env, env.StderrTTY, o.Theme)
	return &Output{
		env: env, Style: c.style(), colours: c, Options: o,
		live: env.StdoutTTY && !o.JSON && !o.Quiet, atStart: true,
		streamed: map[lathe.PartID]int{}, held: map[lathe.PartID]string{}, kind: map[lathe.PartID]string{}, shown: map[lathe.PartID]bool{},
		working: map[lathe.MessageID]bool{},
	}
}

// Event shows one event. root is the session of the run; others are subagents.
func (o *Output) Event(e lathe.Envelope, root lathe.SessionID) {
	if m, ok := e.Event.(lathe.MessageUpdated); ok {
		if a, ok := m.Message.Info.(*lathe.Assistant); ok && a.Completed.IsZero() {
			o.working[m.Message.ID] = true
		}
	}
	if p, ok := e.Event.(lathe.PartUpdated); ok && !o.working[p.Part.MessageID] {
		return
	}
	if f, ok := e.Event.(lathe.SessionFailed); ok && f.SessionID == root {
		o.Failed = true
	}
	if o.JSON {
		o.jsonEvent(e, root)
		return
	}
	switch ev := e.Event.(type) {
	case lathe.PartUpdated:
		o.Part(ev.Part, ev.Part.SessionID == root)
	case lathe.PartDelta:
		if ev.SessionID == root {
			o.delta(ev)
		}
	case lathe.SessionStatus:
		if r, ok := ev.Status.(lathe.Retrying); ok {
			wait := max(0, r.Next.Sub(e.Time)).Round(100 * time.Millisecond)
			o.Notice(fmt.Sprintf("%s; trying again in %s (attempt %d)", console.OneLine(r.Message, 200), wait, r.Attempt+1))
		}
	case lathe.SessionCompacted:
		if ev.SessionID == root {
			o.Notice("the window was full: older messages are now a summary and a ledger (see: lathe context)")
		}
	case lathe.SessionPruned:
		if ev.SessionID == root {
			o.Notice(fmt.Sprintf("cleared %d old tool results from the model's view, about %s tokens", ev.Results, console.Count(ev.Tokens)))
		}
	case lathe.UndoOff:
		o.Warning("undo is off here, so what is changed cannot be taken back: " + ev.Reason)
	case lathe.SessionFailed:
		if ev.Failure != nil {
			o.ErrLine("lathe: " + o.Style.Red(o.say("error:")+" ") + console.Clean(o.say(ev.Failure.Error())))
			if hint := failureHint(ev.Failure); hint != "" {
				o.ErrLine("lathe: " + o.Style.Bold(o.say("hint:")+" ") + o.say(hint))
			}
		}
	}
}

// Part shows a part that is finished; own says that it is the root session's.
func (o *Output) Part(p lathe.Part, own bool) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		o.kind[p.ID] = "text"
		if own && !b.Time.End.IsZero() && !b.Synthetic {
			o.text(p.ID, b)
		}
	case *lathe.Reasoning:
		o.kind[p.ID] = "reasoning"
		if own && o.Thinking && !b.Time.End.IsZero() && strings.TrimSpace(b.Text) != "" {
			o.ErrLine(o.Style.Dim("thinking: " + console.Clean(strings.TrimSpace(b.Text))))
		}
	case *lathe.ToolCall:
		o.tool(p.ID, b, own)
	}
}

// Again shows what is new in a message that was read again.
func (o *Output) Again(m lathe.Message, root lathe.SessionID, now time.Time) {
	if _, ok := m.Info.(*lathe.Assistant); !ok {
		return
	}
	o.working[m.ID] = true
	for _, p := range m.Parts {
		o.Event(lathe.Envelope{Time: now, Event: lathe.PartUpdated{Part: p}}, root)
		if t, ok := p.Body.(*lathe.Text); ok && t.Time.End.IsZero() {
			o.Event(lathe.Envelope{Time: now, Event: lathe.PartDelta{
				SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.ID, Delta: t.Text, End: len(t.Text),
			}}, root)
		}
	}
}

// delta shows text on a terminal as it streams.
func (o *Output) delta(ev lathe.PartDelta) {
	if !o.live || o.kind[ev.PartID] != "text" {
		return
	}
	if ev = ev.Beyond(o.streamed[ev.PartID]); ev.Delta == "" {
		return
	}
	o.streamed[ev.PartID] += len(ev.Delta)
	text, held := printable.Split(o.held[ev.PartID] + ev.Delta)
	o.held[ev.PartID] = held
	o.stream(console.Clean(text))
}

// stream shows text of an answer on a terminal: as Markdown, unless that was not wanted or
// the terminal cannot set words apart.
func (o *Output) stream(text string) {
	if o.Raw || o.env.Getenv("TERM") == "dumb" {
		o.write(o.env.Stdout, text)
		return
	}
	if o.prose == nil {
		o.prose = newProse(o.width()-1, coloursOf(o.env, o.env.StdoutTTY, o.Theme))
		o.prose.simple = paint.Simple(o.env.Environ)
	}
	o.write(o.env.Stdout, o.prose.add(text))
}

// settle shows what of a streamed text is not shown yet.
func (o *Output) settle() {
	if o.prose != nil {
		o.write(o.env.Stdout, o.prose.end())
		o.prose = nil
	}
}

// failureHint says what a person can do about a failure whose text does not.
func failureHint(f lathe.Failure) string {
	switch f.(type) {
	case *lathe.OutputLengthFailure:
		return `go on where it stopped with: lathe run -c "go on", or ask for less at once`
	case *lathe.FilterFailure:
		return "put it differently, or choose another model with -m"
	}
	return ""
}

// text shows a finished text part. An earlier answer was not the final one, so it
// goes to standard error unless the terminal has shown it already.
func (o *Output) text(id lathe.PartID, b *lathe.Text) {
	if o.shown[id] {
		return
	}
	o.shown[id] = true
	if n := o.streamed[id]; n > 0 {
		if n < len(b.Text) { // the end came while events were lost
			o.stream(console.Clean(b.Text[n:]))
		}
		o.settle()
		o.answer = ""
		o.newline()
		return
	}
	o.FlushAnswer()
	o.answer = b.Text
}

// FlushAnswer moves what turned out not to be the final answer to standard error.
func (o *Output) FlushAnswer() {
	if strings.TrimSpace(o.answer) != "" && !o.Quiet {
		o.ErrLine(console.Clean(o.answer))
	}
	o.answer = ""
}

func (o *Output) tool(id lathe.PartID, c *lathe.ToolCall, own bool) {
	if o.shown[id] || o.Quiet {
		return
	}
	switch st := c.State.(type) {
	case *lathe.ToolRunning:
		if own {
			o.FlushAnswer()
		}
		o.Progress.running(id, c, st)
	case *lathe.ToolDone:
		o.shown[id] = true
		o.Progress.ended(id)
		o.FlushAnswer()
		if c.Tool == "invalid" {
			o.invalid(st, own)
			return
		}
		o.toolLine(o.Style.Green("●"), c.Tool, st.Title, st.Input, st.Time, st.Metadata, own)
		o.toolBody(c.Tool, st)
	case *lathe.ToolFailed:
		o.shown[id] = true
		o.Progress.ended(id)
		o.FlushAnswer()
		o.toolLine(o.Style.Red("✗"), c.Tool, "", st.Input, st.Time, st.Metadata, own)
		o.block(readable.Output(st.Error), previewLines, o.Style.Red)
	}
}

// invalid shows a call of an unknown tool, or one whose arguments make no sense.
func (o *Output) invalid(st *lathe.ToolDone, own bool) {
	var in struct{ Tool, Error string }
	_ = json.Unmarshal(st.Input, &in)
	o.toolLine(o.Style.Red("✗"), in.Tool, "the call could not be understood", st.Input, st.Time, st.Metadata, own)
	o.block(in.Error, previewLines, o.Style.Red)
}

func (o *Output) toolLine(mark, tool, title string, input json.RawMessage, span lathe.Span, meta map[string]any, own bool) {
	if command := summary(input); title == "" || tool == "bash" && command != "" {
		title = command // a model's description of a command is not what ran
	}
	if tool == "glob" {
		title = globTitle(title, input)
	}
	indent := ""
	if !own {
		indent = "  "
	}
	took := ""
	if d, _ := span.Worked(meta); d >= time.Second {
		took = o.Style.Dim(fmt.Sprintf("  %s", d.Round(100*time.Millisecond)))
	}
	o.ErrLine(fmt.Sprintf("%s%s %s  %s%s", indent, mark, o.Style.Bold(console.Clean(tool)), console.OneLine(title, o.width()-len(tool)-14), took))
}

// globTitle says what was searched for as well as where.
func globTitle(where string, input json.RawMessage) string {
	var in struct{ Pattern string }
	if json.Unmarshal(input, &in) != nil || in.Pattern == "" || in.Pattern == where {
		return where
	}
	if where == "" || where == "." {
		return in.Pattern
	}
	return in.Pattern + " in " + where
}

func (o *Output) width() int {
	if o.env.Width < 40 {
		return 120
	}
	return o.env.Width
}

// summary shows the first text argument of a call.
func summary(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, k := range []string{"command", "filePath", "path", "pattern", "url", "query", "description", "name"} {
		if s, ok := args[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// toolBody shows what a person wants to see of a result: a diff, the task list,
// the end of a command's output.
func (o *Output) toolBody(tool string, st *lathe.ToolDone) {
	if d, ok := st.Metadata["diff"].(string); ok && d != "" {
		o.diff(d)
		return
	}
	switch tool {
	case "bash":
		out, _ := st.Metadata["output"].(string)
		o.printed(out)
		o.block(ending(st), previewLines, o.Style.Red)
	case "todowrite":
		o.todos(st.Input)
	}
}

// ending says how a command ended if it failed.
func ending(st *lathe.ToolDone) string {
	switch code := st.Metadata["exit"].(type) {
	case int:
		if code != 0 {
			return fmt.Sprintf("exit code %d", code)
		}
	case float64: // from the store, or another process
		if code != 0 {
			return fmt.Sprintf("exit code %.0f", code)
		}
	case nil:
		if _, notes, ok := strings.Cut(st.Output, "<bash_metadata>\n"); ok {
			notes, _, _ = strings.Cut(notes, "\n</bash_metadata>")
			return notes
		}
	}
	return ""
}

func (o *Output) todos(input json.RawMessage) {
	var in struct {
		Todos []struct{ Content, Status string }
	}
	if json.Unmarshal(input, &in) != nil {
		return
	}
	marks := map[string]string{"completed": "[x]", "in_progress": "[~]", "cancelled": "[-]"}
	for _, t := range in.Todos {
		mark := marks[t.Status]
		if mark == "" {
			mark = "[ ]"
		}
		o.ErrLine("    " + mark + " " + console.OneLine(t.Content, o.width()-9))
	}
}

// block shows the last lines of a text, indented.
func (o *Output) block(text string, most int, paint func(string) string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	lines := strings.Split(console.Clean(text), "\n")
	if len(lines) > most {
		o.left(len(lines)-most, "before")
		lines = lines[len(lines)-most:]
	}
	for _, l := range lines {
		o.ErrLine("    " + paint(cut(l, o.width()-4)))
	}
}

// left says how many lines are left out, and on which side: "before" or "more".
func (o *Output) left(n int, side string) {
	lines := "lines"
	if n == 1 {
		lines = "line"
	}
	o.ErrLine(o.Style.Dim("    … " + o.say(fmt.Sprintf("%d %s %s", n, lines, side))))
}

// diff shows a change; of a long one, the beginning.
func (o *Output) diff(d string) {
	lines := o.change(d)
	for i, l := range lines {
		if i == diffLines {
			o.left(len(lines)-i, "more")
			return
		}
		if !o.colours.on() { // drawn lines fit
			l = cut(l, o.width()-4)
		}
		o.ErrLine("    " + l)
	}
}

func cut(s string, n int) string {
	if r := []rune(s); n > 1 && len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// say returns a text of lathe's own in the person's language.
func (o *Output) say(english string) string { return o.env.Language().Text(english) }

// Notice prints something about the run itself.
func (o *Output) Notice(text string) {
	if !o.Quiet {
		o.ErrLine(o.Style.Yellow("lathe: ") + console.Clean(o.say(text)))
	}
}

// Warning prints something that is shown even in a quiet run.
func (o *Output) Warning(text string) {
	o.ErrLine(o.Style.Yellow("lathe: "+o.say("warning:")+" ") + console.Clean(o.say(text)))
}

// End prints the answer and what the run cost.
func (o *Output) End(out turn.Outcome, took time.Duration) {
	if o.JSON {
		return
	}
	if o.answer != "" {
		text := o.answer
		if !o.Raw || o.env.StdoutTTY { // what a pipe leads to is often a terminal
			text = console.Clean(text)
		}
		o.newline()
		if o.live {
			o.stream(text)
			o.settle()
		} else {
			_, _ = io.WriteString(o.env.Stdout, text) // Fprintln would copy it
		}
		if !o.live || !o.atStart {
			_, _ = io.WriteString(o.env.Stdout, "\n")
		}
		o.atStart = true
		o.answer = ""
	}
	o.settle() // of a text that was cut off
	o.newline()
	if o.Quiet || out.Last == nil {
		return
	}
	o.ErrLine(o.Style.Dim(costLine(out, took)))
}

func costLine(out turn.Outcome, took time.Duration) string {
	info, ok := out.Last.Info.(*lathe.Assistant)
	if !ok {
		return ""
	}
	t := out.Tokens
	line := fmt.Sprintf("— %s · %s · %s · %s in", info.Agent, info.Model, say.Plural(out.Steps, "step"), console.Count(t.Prompt()))
	if t.Prompt() > 0 && t.CacheRead > 0 {
		line += fmt.Sprintf(" (%d%% cached)", t.CacheRead*100/t.Prompt())
	}
	return line + fmt.Sprintf(", %s out · %s · %s", console.Count(t.Output+t.Reasoning), out.Cost, took.Round(100*time.Millisecond))
}

// newline ends a line that streamed text left open.
func (o *Output) newline() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLine()
}

func (o *Output) endLine() {
	if !o.atStart {
		_, _ = io.WriteString(o.env.Stdout, "\n")
		o.atStart = true
	}
}

// ErrLine prints a line on standard error.
func (o *Output) ErrLine(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLine()
	if len(line) < 1<<20 {
		fmt.Fprintln(console.Raw(o.env.Stderr), line)
		return
	}
	_, _ = io.WriteString(console.Raw(o.env.Stderr), line) // Fprintln would copy it
	_, _ = io.WriteString(console.Raw(o.env.Stderr), "\n")
}

func (o *Output) write(w io.Writer, text string) {
	if text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = io.WriteString(w, text)
	o.atStart = strings.HasSuffix(text, "\n")
}

// jsonEvent prints the events that `--format json` promises, one JSON object a
// line: finished tool calls, steps and texts, and errors.
func (o *Output) jsonEvent(e lathe.Envelope, root lathe.SessionID) {
	switch ev := e.Event.(type) {
	case lathe.PartUpdated:
		if kind := o.jsonKind(ev.Part); kind != "" && !o.shown[ev.Part.ID] {
			o.shown[ev.Part.ID] = true
			o.jsonLine(e, kind, ev.Part.SessionID, "part", wire.EncodePart(ev.Part))
		}
	case lathe.SessionFailed:
		o.jsonLine(e, "error", ev.SessionID, "error", wire.EncodeFailure(ev.Failure))
	case lathe.PermissionAsked:
		o.jsonLine(e, "permission", ev.Ask.SessionID, "ask", map[string]any{"id": ev.Ask.ID, "permission": ev.Ask.Permission, "patterns": ev.Ask.Patterns})
	}
}

func (o *Output) jsonKind(p lathe.Part) string {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if !b.Time.End.IsZero() && !b.Synthetic {
			return "text"
		}
	case *lathe.Reasoning:
		if o.Thinking && !b.Time.End.IsZero() {
			return "reasoning"
		}
	case *lathe.ToolCall:
		switch b.State.(type) {
		case *lathe.ToolDone, *lathe.ToolFailed:
			return "tool_use"
		}
	case *lathe.StepStart:
		return "step_start"
	case *lathe.StepFinish:
		return "step_finish"
	}
	return ""
}

func (o *Output) jsonLine(e lathe.Envelope, kind string, id lathe.SessionID, field string, value any) {
	line, err := wire.Marshal(value)
	if err != nil {
		return
	}
	fmt.Fprintf(o.env.Stdout, `{"type":%q,"timestamp":%d,"sessionID":%q,%q:%s}`+"\n", kind, e.Time.UnixMilli(), string(id), field, printable.JSON(line))
}
