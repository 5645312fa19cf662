package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// item is one row of a list.
type item struct {
	id, title, detail, right string
	group                    string
	current                  bool
	found                    bool // it holds the words of the filter elsewhere; it comes last
}

// list is a sheet to choose from, with a filter.
type list struct {
	title string
	hint  string
	items []item
	empty string // shown when there is nothing
	pick  func(it item) tea.Msg
	// move is told about the item that is marked now; may be nil.
	move func(it item) tea.Msg
	// closed is told that the person left without choosing; may be nil.
	closed func() tea.Msg
	// keys are further actions on the marked item, strokes such keystrokes that
	// have no name in the configuration.
	keys    map[keys.Action]func(it item) tea.Msg
	strokes map[string]func(it item) tea.Msg
	// always are actions that need no item.
	always map[keys.Action]func() tea.Msg
	// asked is told about other words in the filter; may be nil.
	asked func() tea.Msg
	// foot tells more of the marked item, below the list; may be nil.
	foot func(l look, it item) styled.Line

	filter edit.Editor
	shown  []int
	at     int
	body   int // rows that were drawn
}

// newList returns a list that begins at the current item.
func newList(l list) *list {
	l.refresh()
	for n, i := range l.shown {
		if l.items[i].current {
			l.at = n
			break
		}
	}
	return &l
}

// refresh filters the items. Without a filter they keep their order.
func (s *list) refresh() {
	query := strings.TrimSpace(s.filter.Text())
	s.shown = s.shown[:0]
	scores := map[int]int{}
	for i, it := range s.items {
		score, ok := match(query, it.title+" "+it.detail+" "+it.group)
		if it.found {
			score, ok = -1000, query != ""
		}
		if ok {
			scores[i] = score
			s.shown = append(s.shown, i)
		}
	}
	if query != "" {
		slices.SortStableFunc(s.shown, func(a, b int) int { return scores[b] - scores[a] })
	}
	s.at = max(0, min(s.at, len(s.shown)-1))
}

// replace shows other items and keeps the mark where it was.
func (s *list) replace(items []item) {
	it, any := s.marked()
	s.items = items
	s.refresh()
	for n, i := range s.shown {
		if any && items[i].id == it.id && (items[i].group == it.group || n < s.at) {
			s.at = n
			return
		}
	}
}

func (s *list) marked() (item, bool) {
	if len(s.shown) == 0 {
		return item{}, false
	}
	return s.items[s.shown[s.at]], true
}

func (s *list) Paste(text string) {
	s.filter.Type(styled.OneLine(text))
	s.at = 0
	s.refresh()
}

func (s *list) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	it, any := s.marked()
	switch stroke := keyName(k); stroke {
	case "esc", "ctrl+c":
		if s.closed != nil {
			return All{Close{s}, s.closed()}
		}
		return Close{s}
	case "enter":
		if !any {
			return nil
		}
		return All{Close{s}, s.pick(it)}
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

func (s *list) other(h Host, k tea.KeyPressMsg, stroke string, it item, any bool) tea.Msg {
	actions := h.Keys().Plain(stroke)
	if do := s.strokes[stroke]; do != nil && any {
		return do(it)
	}
	for _, act := range actions {
		if do := s.keys[act]; do != nil && any {
			return do(it)
		}
		if do := s.always[act]; do != nil {
			return do()
		}
	}
	if k.Text != "" {
		s.filter.Type(k.Text)
		return s.filtered()
	}
	for _, act := range actions {
		if act != keys.Newline && s.filter.Do(act) {
			return s.filtered()
		}
	}
	return nil
}

// filtered shows what the filter leaves.
func (s *list) filtered() tea.Msg {
	s.at = 0
	s.refresh()
	told := s.tell()
	if s.asked != nil {
		return All{told, s.asked()}
	}
	return told
}

func (s *list) step(by int) tea.Msg {
	if n := len(s.shown); n > 0 {
		next := s.at + by
		switch {
		case by == 1 && next == n:
			next = 0
		case by == -1 && next < 0:
			next = n - 1
		}
		s.at = max(0, min(next, n-1))
	}
	return s.tell()
}

// tell says which item is marked now.
func (s *list) tell() tea.Msg {
	if it, ok := s.marked(); ok && s.move != nil {
		return s.move(it)
	}
	return nil
}

func (s *list) Draw(l look, height int) (lines []styled.Line, x, y int) {
	lines = append(lines, l.title(s.title, s.hint))
	var foot []styled.Line
	if it, ok := s.marked(); ok && s.foot != nil && height > 6 {
		foot = styled.Wrap(s.foot(l, it), l.width-3, l.method)
		foot = foot[:min(len(foot), 3)]
		for i, line := range foot {
			foot[i] = l.row(line, false)
		}
	}
	body := max(1, min(height-3-len(foot), len(s.shown)+s.groups()))
	s.body = body
	lines = append(lines, l.row(styled.Join(styled.Plain(l.glyph("⌕ ", "? "), l.fg(theme.Muted)), styled.Plain(s.filter.Text(), l.fg(theme.Text))), false))
	x, y = 4+styled.Width(s.filter.Text()[:s.filter.Caret()], l.method), 1
	if len(s.shown) == 0 {
		empty := s.empty
		if s.filter.Text() != "" || empty == "" {
			empty = "nothing matches"
		}
		return append(lines, l.row(styled.Plain(empty, l.fg(theme.Muted)), false)), x, y
	}
	return append(append(lines, s.rows(l, body)...), foot...), x, y
}

// groups counts the headings that are shown: only without a filter.
func (s *list) groups() int {
	if s.filter.Text() != "" {
		return 0
	}
	n, last := 0, ""
	for _, i := range s.shown {
		if g := s.items[i].group; g != last {
			n, last = n+1, g
		}
	}
	return n
}

// rows draws the part of the list around the marked item.
func (s *list) rows(l look, height int) []styled.Line {
	var all []styled.Line
	mark, last := 0, ""
	for n, i := range s.shown {
		it := s.items[i]
		if s.filter.Text() == "" && it.group != last {
			last = it.group
			all = append(all, l.row(styled.Plain(it.group, l.fg(theme.Secondary, styled.Bold)), false))
		}
		if n == s.at {
			mark = len(all)
		}
		all = append(all, l.row(drawItem(l, it), n == s.at))
	}
	first := max(0, min(mark-height/2, len(all)-height))
	return all[first:min(len(all), first+height)]
}

func drawItem(l look, it item) styled.Line {
	dot := styled.Span{Text: "  "}
	if it.current {
		dot = styled.Span{Text: l.glyph("● ", "* "), Style: l.fg(theme.Success)}
	}
	right := styled.Plain(it.right+" ", l.fg(theme.Muted))
	room := l.width - 2 - right.Width(l.method)
	line := styled.Line{dot, {Text: it.title, Style: l.fg(theme.Text)}}
	if it.detail != "" {
		line = append(line, styled.Span{Text: "  " + it.detail, Style: l.fg(theme.Muted)})
	}
	return styled.Join(line.Cut(room-1, l.method).Pad(room, l.method, ""), right)
}

// Click chooses what a row of the list says.
func (s *list) Click(h Host, y int) tea.Msg {
	var rows []int // what each row is: an index, or -1 for a heading
	mark, last := 0, ""
	for n, i := range s.shown {
		if g := s.items[i].group; s.filter.Text() == "" && g != last {
			last = g
			rows = append(rows, -1)
		}
		if n == s.at {
			mark = len(rows)
		}
		rows = append(rows, n)
	}
	row := max(0, min(mark-s.body/2, len(rows)-s.body)) + y - 2 // below the title and the filter
	if y < 2 || y-2 >= s.body || row >= len(rows) || rows[row] < 0 {
		return nil
	}
	s.at = rows[row]
	return s.Key(h, tea.KeyPressMsg{Code: tea.KeyEnter})
}
