package about

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/readable"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Context shows what fills the window, and what the session cost.
func (r *Room) Context() tea.Msg {
	e := r.access.Able.Weigh
	id := r.host.Session().ID
	if e == nil || id == "" {
		return dialog.Tell{Kind: dialog.Info, Text: "there is no session yet that could be weighed"}
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		w, err := e.Weigh(ctx, id)
		return dialog.Done{Err: err, Then: dialog.Open{Sheet: &dialog.Page{Title: "context and cost", Lines: func(l look.Look) []styled.Line { return r.weightLines(l, w) }}}}
	})
}

func (r *Room) weightLines(l look.Look, w api.Window) []styled.Line {
	f := dialog.Facts{Look: l}
	f.Head("the next request")
	text := look.Short(w.Used) + " tokens"
	if w.Limit > 0 {
		text = fmt.Sprintf("%s tokens, %d%% of a window of %s; compacted at %s", look.Short(w.Used), w.Used*100/w.Limit, look.Short(w.Limit), look.Short(w.Usable))
	}
	f.Row("sends", text)
	f.Row("costs", w.Fresh+", "+w.Cached+" with all of it in the provider's cache")
	if w.Counted > 0 {
		f.Row("counted last", look.Short(w.Counted)+" tokens, by the provider")
	}
	f.Out = append(f.Out, nil)
	f.Out = append(f.Out, picture(l, w)...)
	if w.Frees > 0 {
		f.Note(fmt.Sprintf("a compaction would replace about %s tokens by a summary", look.Short(w.Frees)))
	}
	f.Head("by kind")
	for i, k := range w.Kinds {
		f.Out = append(f.Out, bar(l, k, w.Used, kindMark(l, i)))
	}
	if len(w.Parts) > 0 {
		f.Head("largest parts")
	}
	for _, p := range w.Parts {
		f.Row(look.Short(p.Tokens), strings.TrimSpace(kindName(l, p.Name)+" "+p.Part))
	}
	f.Head("cost by model")
	for _, m := range w.ByModel {
		f.Row(m.Cost, fmt.Sprintf("%s: %s, %s sent (%s cached), %s answered", m.Model, say.Plural(m.Answers, "answer"), look.Short(m.Sent), look.Short(m.Cached), look.Short(m.Answered)))
	}
	if len(w.ByModel) == 0 {
		f.Note("nothing was answered yet")
	}
	f.Row("in all", r.host.Session().Cost.String())
	for _, n := range readable.WindowNotes(w) {
		f.Note(n)
	}
	if len(w.Budget) > 0 {
		f.Head("budget")
	}
	for _, b := range w.Budget {
		f.Row(fmt.Sprintf("%d%%", b.Percent), b.String())
	}
	f.Head("so far")
	f.Out = append(f.Out, cacheBar(l, w)...)
	f.Row("cache", hits(w.CacheRead, w.CacheWritten, w.CacheFresh))
	f.Row("compactions", fmt.Sprintf("%d, and %s", w.Compactions, say.Plural(w.Prunes, "prune")))
	return f.Out
}

// hits says how much of what was sent came from the provider's cache.
func hits(read, written, fresh int64) string {
	all := read + written + fresh
	if all == 0 {
		return "nothing was sent yet"
	}
	return fmt.Sprintf("%d%% of what was sent was read from it (%s of %s); %s written to it", read*100/all, look.Short(read), look.Short(all), look.Short(written))
}

// kindName is what a kind is called in the person's language; the tool that it names stays.
func kindName(l look.Look, english string) string {
	english = styled.OneLine(english)
	if said := l.Say.Word(english); said != english {
		return said
	}
	return l.T(english)
}

// bar draws how much of the window something takes.
func bar(l look.Look, p api.Portion, used int64, mark styled.Span) styled.Line {
	const room = 18
	share := int64(0)
	if used > 0 {
		share = p.Tokens * 100 / used
	}
	full := int(min(room, (share*room+99)/100))
	name := styled.Plain(fmt.Sprintf("%s (%d)", kindName(l, p.Name), p.Count), l.FG(theme.Text)).Cut(34, l.Method).Pad(35, l.Method, "")
	return styled.Join(styled.Line{mark, {Text: " "}}, name, styled.Line{
		{Text: strings.Repeat(l.Glyph("█", "#"), full), Style: mark.Style},
		{Text: strings.Repeat(l.Glyph("░", "."), room-full), Style: l.FG(theme.Border)},
		{Text: fmt.Sprintf(" %3d%% %7s", share, look.Short(p.Tokens)), Style: l.FG(theme.Muted)},
	})
}

// The picture of a window: rows of cells, each of which is a part of it.
const (
	pictureRows  = 4
	pictureCells = 48 // in a row
)

// kindMark is how a kind is drawn, by its place in the list. Without colours the letter tells
// them apart.
func kindMark(l look.Look, i int) styled.Span {
	colors := [...]theme.Key{theme.Primary, theme.Success, theme.Warning, theme.Info, theme.Accent, theme.Secondary}
	style := l.FG(colors[i%len(colors)])
	if style == "" || l.ASCII {
		return styled.Span{Text: string(rune('A' + i%26)), Style: style}
	}
	return styled.Span{Text: "■", Style: style}
}

// picture draws the window as cells: what fills it by kind, what is free, and what is kept free
// for the answer, where a compaction comes first. A window of unknown size is drawn full.
func picture(l look.Look, w api.Window) []styled.Line {
	cells := pictureRows * min(pictureCells, max(8, l.Width-6))
	whole := w.Limit
	if whole <= 0 {
		whole = w.Used
	}
	if whole <= 0 {
		return nil
	}
	all := make([]styled.Span, 0, cells)
	sum := int64(0)
	for i, k := range w.Kinds {
		sum += k.Tokens
		for len(all) < cells && int64(len(all))*whole < sum*int64(cells) {
			all = append(all, kindMark(l, i))
		}
	}
	for n := int64(len(all)); len(all) < cells; n++ {
		free := styled.Span{Text: l.Glyph("·", "."), Style: l.FG(theme.Border)}
		if w.Usable > 0 && n*whole >= w.Usable*int64(cells) {
			free = styled.Span{Text: l.Glyph("▒", "x"), Style: l.FG(theme.Border)}
		}
		all = append(all, free)
	}
	var out []styled.Line
	for at := 0; at < cells; at += cells / pictureRows {
		out = append(out, append(styled.Line{{Text: " "}}, merged(all[at:at+cells/pictureRows])...))
	}
	if w.Limit <= 0 {
		return out
	}
	legend := styled.Line{{Text: " " + l.Glyph("· ", ". ") + l.T("free"), Style: l.FG(theme.Muted)}}
	if w.Usable > 0 {
		legend = append(legend, styled.Span{Text: "  " + l.Glyph("▒ ", "x ") + l.T("kept for the answer"), Style: l.FG(theme.Muted)})
	}
	return append(out, legend)
}

// merged makes one span of neighbours that look the same.
func merged(list []styled.Span) (out styled.Line) {
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].Style == s.Style {
			out[n-1].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	return out
}

// cacheBar draws which part of what was sent so far came from the provider's cache.
func cacheBar(l look.Look, w api.Window) []styled.Line {
	all := w.CacheRead + w.CacheWritten + w.CacheFresh
	if all <= 0 {
		return nil
	}
	width := min(pictureCells, max(8, l.Width-6))
	full := int(w.CacheRead * int64(width) / all)
	return []styled.Line{{
		{Text: " " + strings.Repeat(l.Glyph("█", "#"), full), Style: l.FG(theme.Success)},
		{Text: strings.Repeat(l.Glyph("░", "."), width-full), Style: l.FG(theme.Border)},
	}}
}
