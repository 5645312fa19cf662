package review

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// overview is a sheet with a session's prompts and below each the files that it changed.
type overview struct {
	room    *Room
	session lathe.SessionID
	list    []api.Reviewed
	rows    []row
	at, top int
	mark    int             // the prompt that a comparison begins with; -1: none
	fixed   bool            // a comparison: nothing in it can be taken back
	from    string          // the prompt that the comparison begins with
	until   lathe.MessageID // the one before which it ends
	first   int             // the line of the first row, as of the last drawing
}

// row is a prompt, or a file of it.
type row struct{ prompt, file int } // file -1: the prompt itself

const (
	keysOfOverview   = "enter open · space looked at · x take back · r undo to here · c compare · s stage · m commit · g go to it · esc close"
	keysOfComparison = "enter open · space looked at · s stage · m commit · esc close"
)

// keys are those that do something in it.
func (o *overview) keys() string {
	if o.fixed {
		return keysOfComparison
	}
	return keysOfOverview
}

// take shows changes.
func (o *overview) take(list []api.Reviewed) {
	o.list, o.rows = list, nil
	for p := range list {
		o.rows = append(o.rows, row{p, -1})
		for f := range list[p].Files {
			o.rows = append(o.rows, row{p, f})
		}
	}
	o.at = max(0, min(o.at, len(o.rows)-1))
}

// Tall says that it takes the whole screen.
func (o *overview) Tall() bool { return true }

// Paste does nothing.
func (o *overview) Paste(string) {}

// Wheel moves through the rows.
func (o *overview) Wheel(by int) bool {
	o.move(by)
	return true
}

func (o *overview) move(by int) { o.at = max(0, min(o.at+by, len(o.rows)-1)) }

// Click marks a row, or opens the one that is marked.
func (o *overview) Click(_ dialog.Host, y int) tea.Msg {
	i := o.top + y - o.first
	if i < 0 || i >= len(o.rows) || y < o.first {
		return nil
	}
	if o.at == i {
		return o.open()
	}
	o.at = i
	return nil
}

// Key moves and acts.
func (o *overview) Key(_ dialog.Host, k tea.KeyPressMsg) tea.Msg {
	switch stroke := dialog.Stroke(k); stroke {
	case "esc", "ctrl+c", "q":
		return dialog.Close{Sheet: o}
	case "up", "k", "ctrl+p":
		o.move(-1)
	case "down", "j", "ctrl+n":
		o.move(1)
	case "pgup":
		o.move(-10)
	case "pgdown":
		o.move(10)
	case "home":
		o.move(-len(o.rows))
	case "end":
		o.move(len(o.rows))
	default:
		if len(o.rows) > 0 {
			return o.act(stroke)
		}
	}
	return nil
}

// act does something with the row that is marked.
func (o *overview) act(stroke string) tea.Msg {
	p, f := o.marked()
	switch stroke {
	case "enter", "right":
		return o.open()
	case "space":
		return o.look(p, f)
	case "m":
		return dialog.All{dialog.Close{Sheet: o}, Ask{commitPrompt}}
	case "s":
		return o.stage(p, f)
	}
	if o.fixed {
		return nil
	}
	switch stroke {
	case "g":
		return dialog.All{dialog.Close{Sheet: o}, Jump{p.Message}}
	case "r":
		return o.room.revert(o, *p)
	case "c":
		return o.compare()
	case "x":
		return o.takeBack(p, f)
	}
	return nil
}

// marked returns the prompt and the file under the cursor; the file is nil on a prompt.
func (o *overview) marked() (*api.Reviewed, *api.ReviewedFile) {
	r := o.rows[o.at]
	p := &o.list[r.prompt]
	if r.file < 0 {
		return p, nil
	}
	return p, &p.Files[r.file]
}

// open shows the file, or for a prompt its first one.
func (o *overview) open() tea.Msg {
	p, f := o.marked()
	if f == nil {
		if len(p.Files) == 0 {
			return dialog.Tell{Kind: dialog.Info, Text: "this prompt changed no files"}
		}
		f = &p.Files[0]
	}
	return dialog.Open{Sheet: newFile(o, *p, *f)}
}

// look marks a file as looked at, or all of a prompt's; again takes the mark back.
func (o *overview) look(p *api.Reviewed, f *api.ReviewedFile) tea.Msg {
	files := p.Files
	if f != nil {
		files = []api.ReviewedFile{*f}
	}
	all := true
	for _, f := range files {
		all = all && o.room.looked[f.Key()]
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Key()
	}
	o.move(1)
	return o.room.look(o.session, names, !all)
}

func (o *overview) takeBack(p *api.Reviewed, f *api.ReviewedFile) tea.Msg {
	if p.Taken {
		return dialog.Tell{Kind: dialog.Warning, Text: "this was taken back already; undo brings it back with what came after"}
	}
	in, what := api.TakeBack{Message: p.Message}, "what this prompt changed"
	if f != nil {
		in.File, what = f.File, "the changes of "+styled.OneLine(f.File)
	}
	return o.room.takeBack(o, in, what)
}

// stage puts a file into git's index, or all of a prompt's; a renamed one under both names.
func (o *overview) stage(p *api.Reviewed, f *api.ReviewedFile) tea.Msg {
	var names []string
	switch {
	case f != nil:
		names = both(p, f)
	case len(p.Files) == 0:
		return dialog.Tell{Kind: dialog.Info, Text: "this prompt changed no files"}
	default:
		for _, f := range p.Files {
			names = append(names, f.File)
		}
	}
	return o.room.stage(o.session, api.Stage{Message: p.Message, Until: o.until, Files: names})
}

// compare marks where a comparison begins, or shows it.
func (o *overview) compare() tea.Msg {
	now := o.rows[o.at].prompt
	if o.list[now].Taken {
		return dialog.Tell{Kind: dialog.Warning, Text: "compare two prompts"}
	}
	if o.mark < 0 {
		o.mark = now
		return dialog.Tell{Kind: dialog.Info, Text: "c on another prompt shows what changed from before this one until before that one; c again, until now"}
	}
	from, to := o.list[min(o.mark, now)], o.list[max(o.mark, now)]
	o.mark = -1
	if from.Message == to.Message {
		to = api.Reviewed{Message: api.Now, Created: o.list[len(o.list)-1].Created}
	}
	return o.room.compare(o.session, from, to)
}

// Draw shows the rows that fit.
func (o *overview) Draw(l look.Look, height int) ([]styled.Line, int, int) {
	out := []styled.Line{l.Title("changes", o.summary(l))}
	hint := styled.Wrap(styled.Plain(l.Hint(o.keys()), l.FG(theme.Muted)), l.Width-3, l.Method)
	if len(hint) > height/3 {
		hint = nil
	}
	o.first = 1
	room := max(1, height-1-len(hint))
	o.top = max(0, min(o.top, o.at), o.at-room+1)
	if len(o.rows) == 0 {
		out = append(out, l.Row(styled.Plain(l.T("nothing was said in this session yet"), l.FG(theme.Muted)), false))
	}
	for i := o.top; i < min(len(o.rows), o.top+room); i++ {
		out = append(out, l.Row(o.row(l, o.rows[i]), i == o.at))
	}
	for _, h := range hint {
		out = append(out, l.Row(h, false))
	}
	return out, -1, 0
}

// summary counts what there is, and what was looked at.
func (o *overview) summary(l look.Look) string {
	files, looked, added, removed := 0, 0, 0, 0
	for _, p := range o.list {
		a, r := p.Counts()
		added, removed = added+a, removed+r
		for _, f := range p.Files {
			files++
			if o.room.looked[f.Key()] {
				looked++
			}
		}
	}
	return fmt.Sprintf("+%d %s%d · ", added, l.Glyph("−", "-"), removed) + l.T(fmt.Sprintf("%d of %d looked at", looked, files))
}

// name returns how the rows call the file with a path: from the directory of the session on.
func (o *overview) name(path string) string {
	short := ""
	for _, p := range o.list {
		for _, f := range p.Files {
			if len(f.File) > len(short) && strings.HasSuffix(filepath.ToSlash(path), "/"+f.File) {
				short = f.File
			}
		}
	}
	return cmp.Or(short, path)
}

func (o *overview) row(l look.Look, r row) styled.Line {
	p := o.list[r.prompt]
	if r.file < 0 {
		return o.promptRow(l, p, r.prompt == o.mark)
	}
	f := p.Files[r.file]
	mark := styled.Span{Text: "  " + l.Glyph("☐ ", "[ ] "), Style: l.FG(theme.Muted)}
	if o.room.looked[f.Key()] {
		mark = styled.Span{Text: "  " + l.Glyph("☑ ", "[x] "), Style: l.FG(theme.Success)}
	}
	left := styled.Line{mark, {Text: l.Ending(styled.OneLine(f.File), l.Width-30), Style: l.FG(theme.Text)}}
	switch other := p.Renames()[f.File]; {
	case other != "":
		way := "renamed to %s"
		if f.Status == "added" {
			way = "renamed from %s"
		}
		left = append(left, styled.Span{Text: "  " + l.T(fmt.Sprintf(way, l.Ending(styled.OneLine(other), l.Width/3))), Style: l.FG(theme.Muted)})
		return left.Cut(max(1, l.Width-4), l.Method)
	case f.Status != "modified":
		left = append(left, styled.Span{Text: "  " + l.Say.Word(f.Status), Style: l.FG(theme.Muted)})
	}
	return apart(l, left, l.Counts(f.Additions, f.Deletions))
}

func (o *overview) promptRow(l look.Look, p api.Reviewed, marked bool) styled.Line {
	text, style := styled.OneLine(p.Text), l.FG(theme.Text, styled.Bold)
	switch {
	case p.Taken:
		text, style = l.T("taken back by you"), l.FG(theme.Secondary)
	case o.fixed && o.until == api.Now:
		text = l.T(fmt.Sprintf("from %q until now", short(o.from)))
	case o.fixed:
		text = l.T(fmt.Sprintf("from %q to %q", short(o.from), short(p.Text)))
	}
	if marked {
		text = l.T("compare from:") + " " + text
	}
	left := styled.Line{{Text: l.Glyph("▌ ", "| "), Style: l.FG(theme.Primary)}, {Text: text, Style: style}}
	right := styled.Plain(l.T("no changes"), l.FG(theme.Muted))
	if added, removed := p.Counts(); len(p.Files) > 0 {
		right = l.Counts(added, removed)
	}
	return apart(l, left, append(right, styled.Span{Text: "  " + time.UnixMilli(p.Created).Format("15:04"), Style: l.FG(theme.Muted)}))
}

// apart draws one text at each end of a row.
func apart(l look.Look, left, right styled.Line) styled.Line {
	room := l.Width - 4 - right.Width(l.Method)
	left = left.Cut(max(1, room-1), l.Method)
	fill := max(1, room-left.Width(l.Method))
	return styled.Join(left, styled.Plain(strings.Repeat(" ", fill)), right)
}

// both are the names of a file, with the other one of a file that was renamed.
func both(p *api.Reviewed, f *api.ReviewedFile) []string {
	if other := p.Renames()[f.File]; other != "" {
		return []string{f.File, other}
	}
	return []string{f.File}
}
