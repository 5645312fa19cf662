package builtin

import (
	"context"
	_ "embed" // the description
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/reading"
	"lathe/internal/tool"
)

//go:embed recall.md
var recallText string

// History yields the messages of a session with their parts, newest first, those
// with a sequence number below before (0: all). An error ends it.
type History func(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error]

// Bounds of one answer of the recall tool.
const (
	recallLines   = 120       // of a list
	recallHits    = 30        // of a search
	recallScan    = 4000      // messages that a search looks at
	recallBytes   = 24 << 10  // of a read
	recallExcerpt = 160       // bytes around a hit
	recallSearch  = 256 << 10 // bytes of a part that a search looks at
)

type recallInput struct {
	Mode   string `json:"mode"`
	Query  string `json:"query"`
	Part   string `json:"part"`
	Offset int    `json:"offset"`
	Before int64  `json:"before"`
}

func (e sessionTools) recallTool() tool.Tool {
	s := spec("recall", recallText, `{"type":"object","properties":{`+
		`"mode":{"type":"string","enum":["list","search","read"],"description":"What to do"},`+
		`"query":{"type":"string","description":"Words to search for"},`+
		`"part":{"type":"string","description":"Number of the part to read, such as 12.3"},`+
		`"offset":{"type":"integer","description":"Line to begin reading with, from 1"},`+
		`"before":{"type":"integer","description":"List messages below this number"}},`+
		`"required":["mode"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.recall)
}

func (e sessionTools) recall(ctx context.Context, call *tool.Call, in recallInput) (tool.Result, error) {
	past := e.past(ctx, call, in.Before)
	switch in.Mode {
	case "list":
		return listPast(past)
	case "search":
		return searchPast(past, in)
	case "read":
		return e.recallRead(ctx, call, in)
	}
	return tool.Result{}, failf("mode %q is not list, search or read.", in.Mode)
}

// past yields the messages of the session, without what was read under rules
// other than the call's.
func (e sessionTools) past(ctx context.Context, call *tool.Call, before int64) iter.Seq2[lathe.Message, error] {
	rules := e.reading(call)
	return func(yield func(lathe.Message, error) bool) {
		for m, err := range e.History(ctx, call.SessionID, before) {
			m.Parts = reading.Parts(rules, e.Root, m.Parts)
			if !yield(m, err) {
				return
			}
		}
	}
}

func recalled(title, output string, n int) tool.Result {
	return tool.Result{Title: title, Output: output, Metadata: map[string]any{"count": n, "truncated": false}}
}

func listPast(past iter.Seq2[lathe.Message, error]) (tool.Result, error) {
	var b strings.Builder
	lines, oldest := 0, int64(0)
	for m, err := range past {
		if err != nil {
			return tool.Result{}, failf("The session could not be read: %v", err)
		}
		if lines >= recallLines {
			fmt.Fprintf(&b, "(older messages: list again with before %d)\n", oldest)
			break
		}
		oldest = m.Seq
		for i := range m.Parts {
			if what, text := partText(&m.Parts[i]); what != "" {
				fmt.Fprintf(&b, "%d.%d %s %s: %s\n", m.Seq, m.Parts[i].Seq, who(&m), what, head(text, 100))
				lines++
			}
		}
	}
	if lines == 0 {
		return recalled("Session", "There is nothing earlier.", 0), nil
	}
	return recalled("Session", b.String(), lines), nil
}

// searchPast looks for all the words; if no part has them all, it returns those with
// the most of them.
func searchPast(past iter.Seq2[lathe.Message, error], in recallInput) (tool.Result, error) {
	words := strings.Fields(strings.ToLower(in.Query))
	if len(words) == 0 {
		return tool.Result{}, failf("A search needs words in query.")
	}
	var all, some []recallHit
	more, seen := "", 0
	for m, err := range past {
		if err != nil {
			return tool.Result{}, failf("The session could not be read: %v", err)
		}
		if seen++; seen > recallScan || len(all) >= recallHits {
			more = fmt.Sprintf("(not all was searched; search on with before %d)\n", m.Seq+1)
			break
		}
		for i := range m.Parts {
			what, text := partText(&m.Parts[i])
			if what == "" || len(all) >= recallHits {
				continue
			}
			n, at := find(text, words)
			if n == 0 {
				continue
			}
			hit := recallHit{n, fmt.Sprintf("%d.%d %s %s: %s\n", m.Seq, m.Parts[i].Seq, who(&m), what, around(text, at))}
			if n == len(words) {
				all = append(all, hit)
			} else {
				some = keepBest(some, hit)
			}
		}
	}
	switch {
	case len(all) > 0:
		return recalled(in.Query, lines(all)+more, len(all)), nil
	case len(some) > 0:
		return recalled(in.Query, fmt.Sprintf("Nothing has all of these words; the most like it, newest first:\n%s%s", lines(some), more), len(some)), nil
	}
	return recalled(in.Query, fmt.Sprintf("Nothing in this session contains %q.\n%s", in.Query, more), 0), nil
}

// recallHit is a part that has some of the words.
type recallHit struct {
	words int
	line  string
}

func lines(hits []recallHit) string {
	var b strings.Builder
	for _, h := range hits {
		b.WriteString(h.line)
	}
	return b.String()
}

// keepBest adds a hit to a bounded list of those with the most words.
func keepBest(list []recallHit, h recallHit) []recallHit {
	most := 0
	for _, have := range list {
		most = max(most, have.words)
	}
	switch {
	case h.words > most:
		return []recallHit{h}
	case h.words < most || len(list) >= recallHits:
		return list
	}
	return append(list, h)
}

// find returns how many of the words stand in a text, and where the first of them does.
func find(text string, words []string) (n, at int) {
	if len(text) > recallSearch {
		text = text[:recallSearch]
	}
	lower := strings.ToLower(text)
	at = -1
	for _, w := range words {
		i := strings.Index(lower, w)
		if i < 0 {
			continue
		}
		if n++; at < 0 {
			at = i
		}
	}
	if at > len(text) {
		at = 0 // lower case may be longer than the original
	}
	return n, max(at, 0)
}

func around(text string, at int) string {
	from, to := max(0, at-recallExcerpt/2), min(len(text), at+recallExcerpt/2)
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
}

func (e sessionTools) recallRead(ctx context.Context, call *tool.Call, in recallInput) (tool.Result, error) {
	a, c, _ := strings.Cut(strings.TrimPrefix(in.Part, "#"), ".")
	seq, err1 := strconv.ParseInt(a, 10, 64)
	if c == "" {
		c = "0"
	}
	part, err2 := strconv.ParseInt(c, 10, 64)
	if err1 != nil || err2 != nil || seq <= 0 {
		return tool.Result{}, failf("part %q is not a number such as 12.3; list or search first.", in.Part)
	}
	for m, err := range e.past(ctx, call, seq+1) {
		if err != nil {
			return tool.Result{}, failf("The session could not be read: %v", err)
		}
		if m.Seq != seq {
			break
		}
		return readRecalled(&m, part, in), nil
	}
	return tool.Result{}, failf("There is no message %d in this session.", seq)
}

func readRecalled(m *lathe.Message, part int64, in recallInput) tool.Result {
	var b strings.Builder
	for i := range m.Parts {
		if what, text := partText(&m.Parts[i]); what != "" && (part == 0 || m.Parts[i].Seq == part) {
			fmt.Fprintf(&b, "%d.%d %s %s\n%s\n", m.Seq, m.Parts[i].Seq, who(m), what, text)
		}
	}
	if b.Len() == 0 {
		return tool.Failf("Message %d has no part %d with something to read.", m.Seq, part)
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	for line := 1; line < in.Offset; line++ {
		_, rest, more := strings.Cut(text, "\n")
		if !more {
			return tool.Failf("Part %s has only %d lines.", in.Part, line)
		}
		text = rest
	}
	if len(text) > recallBytes {
		cut := strings.LastIndexByte(text[:recallBytes], '\n') + 1
		if cut == 0 {
			for cut = recallBytes; !utf8.RuneStart(text[cut]); cut-- {
			}
		}
		next := max(in.Offset, 1) + strings.Count(text[:cut], "\n")
		text = text[:cut] + fmt.Sprintf("\n(more: read on with offset %d)", next)
	}
	return recalled("Part "+in.Part, text, 1)
}

// partText returns what a part is and says, or "" when there is nothing to recall.
func partText(p *lathe.Part) (what, text string) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if b.Ignored || b.Text == "" {
			return "", ""
		}
		return "text", b.Text
	case *lathe.File:
		return "file", b.MIME + " " + b.Filename
	case *lathe.Subtask:
		return "subtask", b.Prompt
	case *lathe.Patch:
		return "changed files", strings.Join(b.Files, "\n")
	case *lathe.ToolCall:
		switch s := b.State.(type) {
		case *lathe.ToolDone:
			return b.Tool, string(s.Input) + "\n" + s.Output
		case *lathe.ToolFailed:
			return b.Tool + " (failed)", string(s.Input) + "\n" + s.Error
		}
	}
	return "", ""
}

func who(m *lathe.Message) string {
	if _, ok := m.Info.(*lathe.User); ok {
		return "user"
	}
	return "you"
}

// head returns the beginning of a text on one line.
func head(s string, n int) string {
	cut := s
	if len(cut) > 4*n {
		cut = cut[:4*n]
	}
	cut = strings.Join(strings.Fields(strings.ToValidUTF8(cut, "")), " ")
	if len(cut) > n {
		cut = strings.ToValidUTF8(cut[:n], "") + " …"
	}
	return cut
}
