package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/markup"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// codeBlock is a fenced block of code in an answer.
type codeBlock struct{ lang, code string }

// codeBlocks returns the fenced blocks of code in a Markdown text, in their order.
func codeBlocks(text string) (out []codeBlock) {
	var open string // the fence that began the block
	var block codeBlock
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(strings.TrimRight(line, "\r\n"), " ")
		switch fence := markup.Fence(bare); {
		case open == "" && fence != "":
			open = fence
			lang, _, _ := strings.Cut(strings.TrimSpace(bare[len(fence):]), " ")
			block = codeBlock{lang: lang}
		case open != "" && markup.FenceAfter(open, bare) == "":
			out, open = append(out, block), ""
		case open != "":
			block.code += line
		}
	}
	if open != "" {
		out = append(out, block)
	}
	return out
}

// newestCode returns the blocks of the newest answer that has any: a person asks for code and
// then goes on about something else.
func newestCode(m chat.Messages) []codeBlock {
	for text := range m.Answers() {
		if blocks := codeBlocks(text); len(blocks) > 0 {
			return blocks
		}
	}
	return nil
}

// copyCode copies a block of code of the newest answer that has any: the only one, or the one
// that is chosen.
func copyCode(a *App) tea.Cmd {
	blocks := newestCode(a.conv.Shown())
	switch len(blocks) {
	case 0:
		a.notify(dialog.Warning, "no answer here holds a block of code; /copy copies all of the last one")
		return a.tick()
	case 1:
		return a.copy(blocks[0].code, "copied the block of code")
	}
	l := dialog.List{Title: "copy a block of code", Hint: "enter copy · esc close"}
	for i, b := range blocks {
		first, _, _ := strings.Cut(strings.TrimSpace(b.code), "\n")
		l.Items = append(l.Items, dialog.Item{
			ID: fmt.Sprint(i), Title: look.Or(styled.OneLine(first), "(empty)"), Detail: styled.OneLine(b.lang),
			Right: say.Plural(strings.Count(strings.TrimSuffix(b.code, "\n"), "\n")+1, "line"),
		})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		var i int
		_, _ = fmt.Sscan(it.ID, &i)
		return dialog.Copy{Text: blocks[i].code, Said: "copied the block of code"}
	}
	return a.apply(dialog.Open{Sheet: dialog.NewList(l)})
}
