package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// sheet is something that stands between the conversation and the status line and
// takes the keys: a dialog, a permission ask, a question.
type sheet interface {
	// key handles a keystroke.
	key(a *App, k tea.KeyPressMsg) tea.Cmd
	// paste takes pasted text.
	paste(text string)
	// draw returns at most height lines, and where the caret stands in them; a
	// negative x hides it.
	draw(l look, height int) (lines []styled.Line, x, y int)
}

// sheetHeight is how many lines a sheet may have: what is read may take the whole
// screen, the others leave something of the conversation.
func (a *App) sheetHeight(s sheet) int {
	if t, ok := s.(interface{ tall() bool }); ok && t.tall() {
		return max(4, a.height-1)
	}
	return max(4, a.height*2/3)
}

// wordsTo gives what was written after a command to the sheet that it opened: a
// list searches it, a field holds it.
func (a *App) wordsTo(s sheet) {
	words := a.words
	a.words = ""
	if words == "" {
		return
	}
	switch s := s.(type) {
	case *list:
		s.paste(words)
		s.tell(a)
	case *field:
		if !s.secret {
			s.edit.Set(styled.OneLine(words))
		}
	case *page:
		s.search = &edit.Editor{}
		s.paste(words)
	}
}

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
	pick  func(a *App, it item) tea.Cmd
	// move is told about the item that is marked now; may be nil.
	move func(a *App, it item)
	// closed is told that the person left without choosing; may be nil.
	closed func(a *App) tea.Cmd
	// keys are further actions on the marked item, strokes such keystrokes that
	// have no name in the configuration.
	keys    map[keys.Action]func(a *App, it item) tea.Cmd
	strokes map[string]func(a *App, it item) tea.Cmd
	// always are actions that need no item.
	always map[keys.Action]func(a *App) tea.Cmd
	// asked is told about other words in the filter; may be nil.
	asked func(a *App) tea.Cmd
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

func (s *list) paste(text string) {
	s.filter.Type(styled.OneLine(text))
	s.at = 0
	s.refresh()
}

func (s *list) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	it, any := s.marked()
	switch stroke := keyName(k); stroke {
	case "esc", "ctrl+c":
		a.close(s)
		if s.closed != nil {
			return s.closed(a)
		}
		return nil
	case "enter":
		if !any {
			return nil
		}
		a.close(s)
		return s.pick(a, it)
	case "up", "ctrl+p":
		s.step(a, -1)
	case "down", "ctrl+n":
		s.step(a, 1)
	case "pgup":
		s.step(a, -max(1, s.body-1))
	case "pgdown":
		s.step(a, max(1, s.body-1))
	default:
		return s.other(a, k, stroke, it, any)
	}
	return nil
}

func (s *list) other(a *App, k tea.KeyPressMsg, stroke string, it item, any bool) tea.Cmd {
	actions := a.keys.Plain(stroke)
	if do := s.strokes[stroke]; do != nil && any {
		return do(a, it)
	}
	for _, act := range actions {
		if do := s.keys[act]; do != nil && any {
			return do(a, it)
		}
		if do := s.always[act]; do != nil {
			return do(a)
		}
	}
	if k.Text != "" {
		s.filter.Type(k.Text)
		return s.filtered(a)
	}
	for _, act := range actions {
		if act != keys.Newline && s.filter.Do(act) {
			return s.filtered(a)
		}
	}
	return nil
}

// filtered shows what the filter leaves.
func (s *list) filtered(a *App) tea.Cmd {
	s.at = 0
	s.refresh()
	s.tell(a)
	if s.asked != nil {
		return s.asked(a)
	}
	return nil
}

func (s *list) step(a *App, by int) {
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
	s.tell(a)
}

func (s *list) tell(a *App) {
	if it, ok := s.marked(); ok && s.move != nil {
		s.move(a, it)
	}
}

func (s *list) draw(l look, height int) (lines []styled.Line, x, y int) {
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
		all = append(all, l.row(l.item(it), n == s.at))
	}
	first := max(0, min(mark-height/2, len(all)-height))
	return all[first:min(len(all), first+height)]
}

func (l look) item(it item) styled.Line {
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

// title draws the first line of a sheet: its name and what keys do.
func (l look) title(text, hint string) styled.Line {
	left := styled.Plain(" "+text+" ", l.fg(theme.Primary, styled.Bold))
	right := styled.Plain(" "+hint+" ", l.fg(theme.Muted))
	dash := l.glyph("─", "-")
	fill := l.width - left.Width(l.method) - right.Width(l.method) - 2
	rule := func(n int) styled.Line { return styled.Plain(strings.Repeat(dash, n), l.fg(theme.Border)) }
	if fill < 2 {
		left = left.Cut(l.width-4, l.method)
		return styled.Join(rule(2), left, rule(l.width-2-left.Width(l.method)))
	}
	return styled.Join(rule(2), left, rule(fill), right)
}

// field is a sheet that asks for one line of text.
type field struct {
	title, hint string
	secret      bool // what is written is not shown
	note        string
	bad         bool // the note tells of a mistake
	edit        edit.Editor
	done        func(a *App, text string) tea.Cmd
	left        func(a *App) tea.Cmd // told that the person left; may be nil
}

func (s *field) paste(text string) { s.edit.Type(styled.OneLine(text)) }

func (s *field) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	switch stroke := keyName(k); {
	case stroke == "esc" || stroke == "ctrl+c":
		a.close(s)
		if s.left != nil {
			return s.left(a)
		}
	case stroke == "enter":
		a.close(s)
		return s.done(a, strings.TrimSpace(s.edit.Text()))
	case k.Text != "":
		s.edit.Type(k.Text)
	default:
		for _, act := range a.keys.Plain(stroke) {
			if act != keys.Newline && s.edit.Do(act) {
				break
			}
		}
	}
	return nil
}

func (s *field) draw(l look, _ int) ([]styled.Line, int, int) {
	text, x := styled.Plain(s.edit.Text(), l.fg(theme.Text)), 2+styled.Width(s.edit.Text()[:s.edit.Caret()], l.method)
	if s.secret {
		all := utf8.RuneCountInString(s.edit.Text())
		n := min(all, 40, max(1, l.width-22))
		text, x = styled.Plain(strings.Repeat(l.glyph("•", "*"), n), l.fg(theme.Text)), 2+n
		if all > 0 {
			text = append(text, styled.Span{Text: "  " + plural(all, "character"), Style: l.fg(theme.Muted)})
		} else {
			text = styled.Plain(" it is not shown as you type or paste it", l.fg(theme.Muted))
		}
	}
	out := []styled.Line{l.title(s.title, s.hint), l.row(text, false)}
	key := theme.Muted
	if s.bad {
		key = theme.Warning
	}
	if s.note != "" {
		for _, line := range styled.Wrap(styled.Plain(s.note, l.fg(key)), l.width-3, l.method) {
			out = append(out, l.row(line, false))
		}
	}
	return out, min(x, l.width-1), 1
}

// page is a sheet to read, and to search in.
type page struct {
	title  string
	lines  func(l look) []styled.Line
	top    int
	rows   int          // that were drawn
	search *edit.Editor // while words are looked for
}

func (s *page) tall() bool { return true }

func (s *page) paste(text string) {
	if s.search != nil {
		s.search.Type(styled.OneLine(text))
	}
}

func (s *page) key(a *App, k tea.KeyPressMsg) tea.Cmd {
	stroke := keyName(k)
	if s.search != nil && s.look(a, k, stroke) {
		return nil
	}
	switch stroke {
	case "esc", "ctrl+c", "q", "enter":
		a.close(s)
	case "/":
		s.search, s.top = &edit.Editor{}, 0
	case "up", "k":
		s.top--
	case "down", "j":
		s.top++
	case "pgup":
		s.top -= max(1, s.rows-1)
	case "pgdown", "space":
		s.top += max(1, s.rows-1)
	case "home":
		s.top = 0
	case "end":
		s.top = 1 << 30
	}
	s.top = max(0, s.top)
	return nil
}

// look takes the keys of a search, and reports whether one was.
func (s *page) look(a *App, k tea.KeyPressMsg, stroke string) bool {
	switch {
	case stroke == "esc" || stroke == "ctrl+c":
		s.search = nil
	case k.Text != "":
		s.search.Type(k.Text)
		s.top = 0
	case stroke == "up" || stroke == "down" || stroke == "pgup" || stroke == "pgdown" || stroke == "enter":
		return false
	default:
		for _, act := range a.keys.Plain(stroke) {
			if act != keys.Newline && s.search.Do(act) {
				break
			}
		}
	}
	return true
}

// found returns the lines that hold the words looked for.
func (s *page) found(body []styled.Line) []styled.Line {
	words := strings.Fields(strings.ToLower(s.search.Text()))
	var out []styled.Line
	for _, line := range body {
		text, all := strings.ToLower(line.Text()), len(line) > 0
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			out = append(out, line)
		}
	}
	return out
}

func (s *page) draw(l look, height int) ([]styled.Line, int, int) {
	body, rows := s.lines(l), max(1, height-1)
	hint, x := "esc close", -1
	out := []styled.Line{nil}
	if s.search != nil {
		hint = "esc all"
		body, rows = s.found(body), max(1, rows-1)
		out = append(out, l.row(styled.Join(styled.Plain(l.glyph("⌕ ", "? "), l.fg(theme.Muted)), styled.Plain(s.search.Text(), l.fg(theme.Text))), false))
		x = min(4+styled.Width(s.search.Text()[:s.search.Caret()], l.method), l.width-1)
	}
	last := max(0, len(body)-rows)
	s.rows = rows
	s.top = min(s.top, last)
	if last > 0 {
		hint = l.glyph("↑↓", "up/down") + " scroll · / search · " + hint
	}
	out[0] = l.title(s.title, hint)
	for _, line := range body[s.top:min(len(body), s.top+rows)] {
		out = append(out, l.row(line, false))
	}
	return out, x, 1
}
