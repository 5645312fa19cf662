package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Item is one row of a list.
type Item struct {
	ID, Title, Detail, Right string
	Group                    string
	Current                  bool
	Own                      bool // the title is the screen's own words, not a name
	Quoted                   bool // the title is what somebody said or named, in no language of the screen's
	Found                    bool // the filter's words were found elsewhere than in its text; it comes last, and its detail is what was found
}

// List is a sheet to choose from, with a filter.
type List struct {
	Title string
	Hint  string
	Items []Item
	Empty string // shown when there is nothing
	Pick  func(it Item) tea.Msg
	// Move is called with the item that is now marked; may be nil.
	Move func(it Item) tea.Msg
	// Closed is called when the person leaves without choosing; may be nil.
	Closed func() tea.Msg
	// Keys are further actions on the marked item, Strokes those for keystrokes
	// that have no name in the configuration.
	Keys    map[keys.Action]func(it Item) tea.Msg
	Strokes map[string]func(it Item) tea.Msg
	// Always are actions that need no item.
	Always map[keys.Action]func() tea.Msg
	// Asked is called when the filter's words change; may be nil.
	Asked func() tea.Msg
	// Foot says more about the marked item, below the list; may be nil.
	Foot func(l look.Look, it Item) styled.Line

	Filter edit.Editor
	shown  []int
	At     int
	body   int // rows that were drawn
}

// NewList returns a list that begins at the current item.
func NewList(l List) *List {
	l.Refresh()
	for n, i := range l.shown {
		if l.Items[i].Current {
			l.At = n
			break
		}
	}
	return &l
}

// Refresh filters the items. Without a filter they keep their order, and one that stands in two
// groups stands there twice; with one no groups are shown, and each item is there once.
func (s *List) Refresh() {
	query := strings.TrimSpace(s.Filter.Text())
	s.shown = s.shown[:0]
	scores, had := map[int]int{}, map[string]bool{}
	for i, it := range s.Items {
		if query != "" && it.ID != "" && had[it.ID] {
			continue
		}
		score, ok := Match(query, it.Title+" "+it.Detail+" "+it.Group)
		if it.Found {
			score, ok = -1000, query != ""
		}
		if ok {
			had[it.ID] = true
			scores[i] = score
			s.shown = append(s.shown, i)
		}
	}
	if query != "" {
		slices.SortStableFunc(s.shown, func(a, b int) int { return scores[b] - scores[a] })
	}
	s.At = max(0, min(s.At, len(s.shown)-1))
}

// Replace shows other items and keeps the mark where it was.
func (s *List) Replace(items []Item) {
	it, any := s.marked()
	s.Items = items
	s.Refresh()
	for n, i := range s.shown {
		if any && items[i].ID == it.ID && (items[i].Group == it.Group || n < s.At) {
			s.At = n
			return
		}
	}
}

func (s *List) marked() (Item, bool) {
	if len(s.shown) == 0 {
		return Item{}, false
	}
	return s.Items[s.shown[s.At]], true
}

func (s *List) Paste(text string) {
	s.Filter.Type(styled.OneLine(text))
	s.At = 0
	s.Refresh()
}

func (s *List) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	it, any := s.marked()
	switch stroke := Stroke(k); stroke {
	case "esc", "ctrl+c":
		if s.Closed != nil {
			return All{Close{s}, s.Closed()}
		}
		return Close{s}
	case "enter":
		if !any {
			return nil
		}
		return All{Close{s}, s.Pick(it)}
	case "up", "ctrl+p":
		return s.step(-1)
	case "down", "ctrl+n":
		return s.step(1)
	case "pgup":
		return s.step(-max(1, s.body-1))
	case "pgdown":
		return s.step(max(1, s.body-1))
	default:
		return s.other(h, k, stroke, it, any)
	}
}

func (s *List) other(h Host, k tea.KeyPressMsg, stroke string, it Item, any bool) tea.Msg {
	actions := h.Keys().Plain(stroke)
	if do := s.Strokes[stroke]; do != nil && any {
		return do(it)
	}
	for _, act := range actions {
		if do := s.Keys[act]; do != nil && any {
			return do(it)
		}
		if do := s.Always[act]; do != nil {
			return do()
		}
	}
	if k.Text != "" {
		s.Filter.Type(k.Text)
		return s.filtered()
	}
	for _, act := range actions {
		if act != keys.Newline && s.Filter.Do(act) {
			return s.filtered()
		}
	}
	return nil
}

// filtered shows what the filter leaves.
func (s *List) filtered() tea.Msg {
	s.At = 0
	s.Refresh()
	told := s.tell()
	if s.Asked != nil {
		return All{told, s.Asked()}
	}
	return told
}

func (s *List) step(by int) tea.Msg {
	if n := len(s.shown); n > 0 {
		next := s.At + by
		switch {
		case by == 1 && next == n:
			next = 0
		case by == -1 && next < 0:
			next = n - 1
		}
		s.At = max(0, min(next, n-1))
	}
	return s.tell()
}

// tell says which item is marked now.
func (s *List) tell() tea.Msg {
	if it, ok := s.marked(); ok && s.Move != nil {
		return s.Move(it)
	}
	return nil
}

func (s *List) Draw(l look.Look, height int) (lines []styled.Line, x, y int) {
	lines = append(lines, l.Title(s.Title, s.Hint))
	var foot []styled.Line
	if it, ok := s.marked(); ok && s.Foot != nil && height > 6 {
		foot = styled.Wrap(s.Foot(l, it), l.Width-3, l.Method)
		foot = foot[:min(len(foot), 3)]
		for i, line := range foot {
			foot[i] = l.Row(line, false)
		}
	}
	body := max(1, min(height-3-len(foot), len(s.shown)+s.groups()))
	s.body = body
	words, caret := s.Filter.OneRow(l.Width-5, l.Method)
	lines = append(lines, l.Row(styled.Join(styled.Plain(l.Glyph("⌕ ", "? "), l.FG(theme.Muted)), styled.Plain(words, l.FG(theme.Text))), false))
	x, y = 4+caret, 1
	if len(s.shown) == 0 {
		empty := s.Empty
		if s.Filter.Text() != "" || empty == "" {
			empty = "nothing matches"
		}
		return append(lines, l.Row(styled.Plain(l.T(empty), l.FG(theme.Muted)), false)), x, y
	}
	return append(append(lines, s.rows(l, body)...), foot...), x, y
}

// groups counts the headings that are shown; with a filter there are none.
func (s *List) groups() int {
	if s.Filter.Text() != "" {
		return 0
	}
	n, last := 0, ""
	for _, i := range s.shown {
		if g := s.Items[i].Group; g != last {
			n, last = n+1, g
		}
	}
	return n
}

// rows draws the part of the list around the marked item.
func (s *List) rows(l look.Look, height int) []styled.Line {
	var all []styled.Line
	mark, last := 0, ""
	for n, i := range s.shown {
		it := s.Items[i]
		if s.Filter.Text() == "" && it.Group != last {
			last = it.Group
			all = append(all, l.Row(styled.Plain(l.Say.Word(it.Group), l.FG(theme.Secondary, styled.Bold)), false))
		}
		if n == s.At {
			mark = len(all)
		}
		all = append(all, l.Row(drawItem(l, it), n == s.At))
	}
	first := max(0, min(mark-height/2, len(all)-height))
	return all[first:min(len(all), first+height)]
}

func drawItem(l look.Look, it Item) styled.Line {
	dot := styled.Span{Text: "  "}
	if it.Current {
		dot = styled.Span{Text: l.Glyph("● ", "* "), Style: l.FG(theme.Success)}
	}
	right := styled.Plain(l.T(it.Right)+" ", l.FG(theme.Muted))
	room := l.Width - 2 - right.Width(l.Method)
	title := it.Title
	switch {
	case it.Own:
		title = l.T(it.Title)
	case !it.Quoted:
		title = l.Say.Word(it.Title)
	}
	line := styled.Line{dot, {Text: title, Style: l.FG(theme.Text)}}
	if it.Detail != "" {
		detail := it.Detail
		if !it.Found {
			detail = l.T(detail)
		}
		line = append(line, styled.Span{Text: "  " + detail, Style: l.FG(theme.Muted)})
	}
	return styled.Join(line.Cut(room-1, l.Method).Pad(room, l.Method, ""), right)
}

// Click chooses the item in a row of the list.
func (s *List) Click(h Host, y int) tea.Msg {
	var rows []int // what each row is: an index, or -1 for a heading
	mark, last := 0, ""
	for n, i := range s.shown {
		if g := s.Items[i].Group; s.Filter.Text() == "" && g != last {
			last = g
			rows = append(rows, -1)
		}
		if n == s.At {
			mark = len(rows)
		}
		rows = append(rows, n)
	}
	row := max(0, min(mark-s.body/2, len(rows)-s.body)) + y - 2 // below the title and the filter
	if y < 2 || y-2 >= s.body || row >= len(rows) || rows[row] < 0 {
		return nil
	}
	s.At = rows[row]
	return s.Key(h, tea.KeyPressMsg{Code: tea.KeyEnter})
}
