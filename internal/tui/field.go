package tui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// field is a sheet that asks for one line of text.
type field struct {
	title, hint string
	secret      bool // what is written is not shown
	note        string
	bad         bool // the note tells of a mistake
	edit        edit.Editor
	done        func(text string) tea.Msg
	left        func() tea.Msg // told that the person left; may be nil
}

func (s *field) Paste(text string) { s.edit.Type(styled.OneLine(text)) }

func (s *field) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	switch stroke := keyName(k); {
	case stroke == "esc" || stroke == "ctrl+c":
		if s.left != nil {
			return All{Close{s}, s.left()}
		}
		return Close{s}
	case stroke == "enter":
		return All{Close{s}, s.done(strings.TrimSpace(s.edit.Text()))}
	case k.Text != "":
		s.edit.Type(k.Text)
	default:
		for _, act := range h.Keys().Plain(stroke) {
			if act != keys.Newline && s.edit.Do(act) {
				break
			}
		}
	}
	return nil
}

func (s *field) Draw(l look, _ int) ([]styled.Line, int, int) {
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
