package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/styled"
)

// done makes a tool call that ended after a time.
func done(tool string, took time.Duration, input, meta map[string]any, output string) *lathe.ToolCall {
	raw, _ := json.Marshal(input)
	return &lathe.ToolCall{Tool: tool, State: &lathe.ToolDone{
		Input: raw, Metadata: meta, Output: output, Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(0, 0).Add(took)},
	}}
}

func lines(from, till, total int) map[string]any {
	return map[string]any{"display": map[string]any{"type": "file", "lineStart": from, "lineEnd": till, "totalLines": total}}
}

// TestCardsForPeople holds what a person reads of calls: words instead of the names of tools,
// how much of a file was read, how a command ended and how long it took without the waiting.
func TestCardsForPeople(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"), reply(2,
		&lathe.Text{Text: "a"}, done("read", 0, map[string]any{"filePath": "greet.go"}, lines(1, 12, 12), "<path>x</path>"),
		&lathe.Text{Text: "b"}, done("read", 0, map[string]any{"filePath": "big.go"}, lines(10, 20, 120), ""),
		&lathe.Text{Text: "c"}, done("bash", 16*time.Second, map[string]any{"command": "go vet ./..."}, map[string]any{"exit": 3, lathe.MetaWaited: 14_000}, ""),
		done("bash", 0, map[string]any{"command": "make watch"}, map[string]any{"job": "job_1", "exit": nil, "output": ""}, "Started as job_1."),
		done("bash", 400*time.Millisecond, map[string]any{"command": "true"}, map[string]any{"exit": 0}, ""),
		done("todowrite", 0, map[string]any{"todos": []any{map[string]any{"content": "one", "status": "completed"}, map[string]any{"content": "two", "status": "pending"}}}, nil, ""),
		done("task", 0, map[string]any{"subagent_type": "general", "description": "look"}, map[string]any{"sessionId": "ses_2", "summary": []any{
			map[string]any{"tool": "webfetch", "state": map[string]any{"status": "completed", "title": "x"}}}}, ""),
		done("invalid", 0, map[string]any{"tool": "raed", "error": "no"}, nil, "The arguments …")))
	d.send(tea.WindowSizeMsg{Width: 80, Height: 40})
	want := strings.Join([]string{
		" ● read greet.go  12 lines", "", "   b", "", " ● read big.go  lines 10–20 of 120", "", "   c", "",
		" ● $ go vet ./...  exit 3  2s  you took 14s", " ● $ make watch  goes on as job_1", " ● $ true  exit 0  400ms", "",
		" ● tasks  1 of 2 done", "   │ ☑ one", "   │ ☐ two", "",
		" ● @general look  1 call", "   │ ● fetch x", "   │ ctrl+x right or a click goes into its session, ctrl+x up comes back", "",
		" ● a call that was not understood: raed",
	}, "\n")
	if text := d.text(); !strings.Contains(text, want) {
		t.Errorf("the screen does not show\n%s\nbut\n%s", want, text)
	}
}

// TestTurnTookWithoutWaiting holds that what a turn took is told without the time in which it waited
// for the person, below it and in the state line.
func TestTurnTookWithoutWaiting(t *testing.T) {
	asked := reply(2, done("bash", 40*time.Second, map[string]any{"command": "true"}, map[string]any{"exit": 0, lathe.MetaWaited: 38_000}, ""))
	asked.Info.(*lathe.Assistant).Finish = lathe.FinishToolCalls
	said := reply(3, &lathe.Text{Text: "done"})
	said.Info.(*lathe.Assistant).Completed = asked.Created.Add(42 * time.Second)
	d := withHistory(t, Options{}, question(1, "go"), asked, said)
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	text := d.text()
	if strings.Contains(text, "42s") || strings.Count(text, " 4s") != 2 {
		t.Errorf("the screen does not say twice that the turn took 4s:\n%s", text)
	}
}

// TestCardKeepsItsEnd holds that a command which is longer than its line still says how it ended.
func TestCardKeepsItsEnd(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"), reply(2,
		done("bash", 2*time.Second, map[string]any{"command": strings.Repeat("echo 漢字 && ", 12) + "false"}, map[string]any{"exit": 1}, "")))
	for _, width := range []int{80, 40} {
		d.send(tea.WindowSizeMsg{Width: width, Height: 24})
		d.shows("…  exit 1  2s\n")
	}
	d.send(tea.WindowSizeMsg{Width: 16, Height: 24}) // no room for all of both
	d.shows("$ echo")
}

// TestBatchOfLooks holds that reads and searches of one step share a line, and that a click
// shows each with what it found.
func TestBatchOfLooks(t *testing.T) {
	grep := done("grep", 0, map[string]any{"pattern": "greet"}, map[string]any{"matches": 4}, "greet.go:1: x")
	read := func(name string) *lathe.ToolCall {
		return done("read", 0, map[string]any{"filePath": name}, lines(1, 3, 3), "<path>/"+name+"</path>\n<type>file</type>\n<content>\n1: in "+name+"\n</content>")
	}
	d := withHistory(t, Options{Mouse: true}, question(1, "go"), reply(2, read("a.go"), read("b.go"), grep))
	d.shows(" ● read a.go (3 lines), b.go (3 lines) · grep greet (4 matches)")
	row := 0
	for i, l := range d.lines() {
		if strings.Contains(l, "● read a.go") {
			row = i
		}
	}
	d.click(20, row)
	d.shows(" ● read a.go  3 lines", "│    1 in a.go", " ● read b.go  3 lines", "│    1 in b.go", " ● grep greet  4 matches")
	d.hides("<content>", "<path>")

	var many []lathe.PartBody
	for _, n := range strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa") {
		many = append(many, read("internal/"+n+".go"))
	}
	d = withHistory(t, Options{}, question(1, "go"), reply(2, many...))
	d.shows(" ● read 10×: internal/alpha.go, internal/beta.go, ", "…")
}

// TestUnfoldedWhereItWasClicked holds that what a click unfolds or folds begins on the line
// that was clicked, however long it gets and wherever the conversation is scrolled to.
func TestUnfoldedWhereItWasClicked(t *testing.T) {
	read := func(name string) *lathe.ToolCall {
		return done("read", 0, map[string]any{"filePath": name}, lines(1, 40, 40), "<content>\n"+strings.Repeat("1: text\n", 40)+"</content>")
	}
	list := []lathe.Message{question(1, "go"), reply(2, read("a.go"), read("b.go"), &lathe.Text{Text: strings.Repeat("A paragraph.\n\n", 4)})}
	for _, scrolled := range []bool{false, true} {
		more := list
		if scrolled {
			more = append(more[:2:2], question(3, "and"), reply(4, &lathe.Text{Text: strings.Repeat("More.\n\n", 30)}))
		}
		d := withHistory(t, Options{Mouse: true}, more...)
		if scrolled {
			d.app.conv.Scroll(-1000)
		}
		row := func() int {
			return slices.IndexFunc(d.lines(), func(l string) bool { return strings.Contains(l, "● read a.go") })
		}
		was := row()
		d.click(20, was)
		if got := row(); got != was {
			t.Errorf("scrolled %v: line %d is on line %d once it is unfolded", scrolled, was, got)
		}
		d.click(20, was)
		if got := row(); got != was {
			t.Errorf("scrolled %v: line %d is on line %d once it is folded again", scrolled, was, got)
		}
	}
}

// TestPasteStaysAChip holds that a long paste is a chip in what was sent, too, and that a
// click shows it.
func TestPasteStaysAChip(t *testing.T) {
	var e edit.Editor
	e.Type("  look at ")
	e.Paste(strings.Repeat("床前明月光\n", 20))
	e.Type(" please ")
	text := strings.TrimSpace(e.Value())
	raw, _ := json.Marshal(e.Pastes())
	said := question(1, text)
	said.Parts[0].Body.(*lathe.Text).Meta = lathe.Meta{lathe.MetaPasted: raw}
	d := withHistory(t, Options{Mouse: true}, said)
	d.shows(" ▌ look at [pasted text, 20 lines] please")
	d.hides("床前明月光")
	d.click(10, 1)
	d.shows("床前明月光")
	d.hides("[pasted text")
	d.press("ctrl+x", "u")
	if got := d.app.input.Text(); got != "look at [pasted text 1, 20 lines] please" || d.app.input.Value() != text {
		t.Errorf("undone, the input shows %q", got)
	}

	said.Parts[0].Body.(*lathe.Text).Meta = lathe.Meta{lathe.MetaPasted: json.RawMessage(`[[5,99999]]`)} // a client's mistake
	d = withHistory(t, Options{}, said)
	d.shows("look at 床前明月光")

	long := question(1, strings.Repeat("a line\n", 50))
	d = withHistory(t, Options{}, long)
	d.shows("… 40 lines more")
}

// TestPastesAreSent holds that the engine is told what was pasted.
func TestPastesAreSent(t *testing.T) {
	d := drive(t, Options{})
	d.typed("x ")
	d.app.paste(strings.Repeat("line\n", 9))
	if diff := cmp.Diff([][2]int{{2, 46}}, d.app.input.Pastes()); diff != "" {
		t.Errorf("pastes (-want +got):\n%s", diff)
	}
}

// TestWhatThePersonWroteIsAPanel holds that messages of the person stand on a panel of the
// whole width, and that nothing is filled up where the terminal breaks lines anew.
func TestWhatThePersonWroteIsAPanel(t *testing.T) {
	for _, inline := range []bool{false, true} {
		d := withHistory(t, Options{Inline: inline}, question(1, "hello"))
		l := d.app.pane()
		lines, _ := d.app.screen()
		for _, line := range lines {
			if !strings.Contains(line.Text(), "▌ hello") {
				continue
			}
			if got, want := line.Width(styled.WcWidth), map[bool]int{false: l.Width - 1, true: 8}[inline]; got != want {
				t.Errorf("inline %v: it is %d cells wide, want %d", inline, got, want)
			}
		}
	}
}

// TestShellModeIsVisible holds that a command is seen to be one before it is sent.
func TestShellModeIsVisible(t *testing.T) {
	d := drive(t, Options{})
	d.typed("!ls")
	d.shows("── shell runs at once, as you ─", " $ !ls")
	d.press("ctrl+u")
	d.hides("runs at once")
}

// click presses and releases the mouse at a cell.
func (d *driver) click(x, y int) {
	d.lines()
	d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	d.send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// windowOf is a terminal of a size.
func windowOf(size [2]int) tea.WindowSizeMsg {
	return tea.WindowSizeMsg{Width: size[0], Height: size[1]}
}
