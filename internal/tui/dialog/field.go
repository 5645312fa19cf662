package dialog

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/say"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Field is a sheet that asks for one line of text.
type Field struct {
	Title, Hint string
	Secret      bool // what is written is not shown
	Note        string
	Bad         bool // the note reports a mistake
	Edit        edit.Editor
	Done        func(text string) tea.Msg
	Left        func() tea.Msg // told that the person left; may be nil
}

func (s *Field) Paste(text string) { s.Edit.Type(styled.OneLine(text)) }

func (s *Field) Key(h Host, k tea.KeyPressMsg) tea.Msg {
	switch stroke := Stroke(k); {
	case stroke == "esc" || stroke == "ctrl+c":
		if s.Left != nil {
			return All{Close{s}, s.Left()}
		}
		return Close{s}
	case stroke == "enter":
		return All{Close{s}, s.Done(strings.TrimSpace(s.Edit.Text()))}
	case k.Text != "":
		s.Edit.Type(k.Text)
	default:
		for _, act := range h.Keys().Plain(stroke) {
			if act != keys.Newline && s.Edit.Do(act) {
				break
			}
		}
	}
	return nil
}

func (s *Field) Draw(l look.Look, _ int) ([]styled.Line, int, int) {
	shown, x := s.Edit.OneRow(l.Width-3, l.Method)
	text, x := styled.Plain(shown, l.FG(theme.Text)), 2+x
	if s.Secret {
		all := utf8.RuneCountInString(s.Edit.Text())
		n := min(all, 40, max(1, l.Width-22))
		text, x = styled.Plain(strings.Repeat(l.Glyph("•", "*"), n), l.FG(theme.Text)), 2+n
		if all > 0 {
			text = append(text, styled.Span{Text: l.T("  " + say.Plural(all, "character")), Style: l.FG(theme.Muted)})
		} else {
			text = styled.Plain(l.T(" it is not shown as you type or paste it"), l.FG(theme.Muted))
		}
	}
	out := []styled.Line{l.Title(s.Title, s.Hint), l.Row(text, false)}
	key := theme.Muted
	if s.Bad {
		key = theme.Warning
	}
	if s.Note != "" {
		for _, line := range styled.Wrap(styled.Plain(l.T(s.Note), l.FG(key)), l.Width-3, l.Method) {
			out = append(out, l.Row(line, false))
		}
	}
	return out, min(x, l.Width-1), 1
}
