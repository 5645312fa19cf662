package markdown

import (
	"strings"

	"lathe/internal/highlight"
	"lathe/internal/tui/styled"
)

// Highlight draws lines of source code in a language, named as fences and file
// extensions name it. An unknown language is drawn plain.
func Highlight(lang string, code []string, st *Styles) []styled.Line {
	lang = strings.ToLower(strings.TrimPrefix(lang, "."))
	out := make([]styled.Line, len(code))
	if lang == "diff" || lang == "patch" {
		for i, l := range code {
			out[i] = diffLine(l, st)
		}
		return out
	}
	lines := highlight.Lines(lang, code)
	if lines == nil {
		for i, l := range code {
			out[i] = styled.Plain(l, st.CodeBlock)
		}
		return out
	}
	for i, l := range lines {
		out[i] = make(styled.Line, len(l))
		for j, span := range l {
			out[i][j] = styled.Span{Text: span.Text, Style: st.codeStyle(span.Kind)}
		}
	}
	return out
}

// codeStyle returns what a kind of source code is drawn with.
func (s *Styles) codeStyle(k highlight.Kind) styled.Style {
	switch k {
	case highlight.Comment:
		return s.Comment
	case highlight.Keyword:
		return s.Keyword
	case highlight.Function:
		return s.Function
	case highlight.String:
		return s.String
	case highlight.Number:
		return s.Number
	case highlight.Type:
		return s.Type
	}
	return s.CodeBlock
}

func diffLine(l string, st *Styles) styled.Line {
	style := st.CodeBlock
	switch {
	case strings.HasPrefix(l, "+"):
		style = st.Added
	case strings.HasPrefix(l, "-"):
		style = st.Removed
	case strings.HasPrefix(l, "@@"):
		style = st.Function
	}
	return styled.Plain(l, style)
}
