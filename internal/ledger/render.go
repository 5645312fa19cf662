package ledger

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/tokens"
)

// DefaultBudget is how many tokens a rendered ledger may take.
const DefaultBudget = 3000

// Options say how a ledger is written.
type Options struct {
	Budget int    // tokens; 0: DefaultBudget
	Root   string // paths below it are written relative to it
	Recall bool   // the model can look up what was left out
}

// Header and footer of a rendered ledger, by which a stored block is recognised.
const (
	Header = "<ledger>"
	Footer = "</ledger>"
)

// section is a heading and its lines, oldest first. share is the part of the
// budget that it may use before the others have had theirs.
type section struct {
	title string
	lines []string
	share float64
	taken int // newest lines that fit
}

// Render writes the facts as a block of at most Budget tokens by the estimate of
// package tokens. What does not fit is left out from the oldest on, each kind
// having a share of its own, and the block says how much that is.
func (f *Facts) Render(o Options) string {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	secs := f.sections(o)
	intro := "Kept by lathe from what happened in this session; it is exact, and wins over the summary where they differ."
	left := o.Budget - tokens.Count(Header+intro+Footer) - 60
	left = fill(secs, left, true, o.Budget)
	fill(secs, left, false, o.Budget)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", Header, intro)
	dropped := 0
	for i := range secs {
		dropped += secs[i].write(&b)
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "\n%d older entries are left out.", dropped)
	}
	if o.Recall {
		b.WriteString("\nEvery earlier message and tool output can still be found and read with the recall tool.")
	}
	b.WriteString("\n" + Footer)
	return b.String()
}

// fill puts lines into the sections, newest first, and returns what is left of
// the budget.
func fill(secs []section, left int, shares bool, budget int) int {
	for i := range secs {
		s := &secs[i]
		limit := left
		if shares {
			limit = min(left, int(s.share*float64(budget)))
		}
		if len(s.lines) == 0 {
			continue
		}
		spent := 0
		if s.taken == 0 {
			spent = tokens.Count(s.title) + 4
		}
		for s.taken < len(s.lines) {
			cost := tokens.Count(s.lines[len(s.lines)-1-s.taken]) + 3
			if spent+cost > limit {
				break
			}
			spent += cost
			left -= cost
			if s.taken++; s.taken == 1 {
				left -= tokens.Count(s.title) + 4
			}
		}
	}
	return left
}

func (s *section) write(b *strings.Builder) (dropped int) {
	if s.taken > 0 {
		fmt.Fprintf(b, "\n## %s\n", s.title)
	}
	for _, line := range s.lines[len(s.lines)-s.taken:] {
		b.WriteString("- " + line + "\n")
	}
	return len(s.lines) - s.taken
}

// sections returns everything there is to write, in the order of its worth.
func (f *Facts) sections(o Options) []section {
	open, done := f.todoLines()
	failed, unsure, passed := f.commandLines()
	touched, looked := f.fileLines(o.Root)
	return []section{
		{title: "What the user asked for, word for word", lines: f.requestLines(o), share: 0.26},
		{title: "Open tasks", lines: open, share: 0.10},
		{title: "Finished tasks (never do them again)", lines: done, share: 0.07},
		{title: "What the user laid down", lines: f.constraintLines(o), share: 0.12},
		{title: "Files written", lines: touched, share: 0.11},
		{title: "Commands whose last run failed", lines: failed, share: 0.10},
		{title: "Open errors", lines: texts(f.Problems), share: 0.03},
		{title: "Answers and permissions", lines: append(texts(f.Answers), f.Allowed...), share: 0.05},
		{title: "Decisions and findings", lines: f.decisionLines(), share: 0.10},
		{title: "Files read", lines: looked, share: 0.06},
		{title: "Commands that passed", lines: passed, share: 0.05},
		{title: "Commands of several parts: only the last part's status is known", lines: unsure, share: 0.05},
		{title: "Names and numbers that commands printed and that were used since", lines: texts(f.Names), share: 0.05},
		{title: "Calls that failed", lines: texts(f.Failures), share: 0.03},
		{title: "Searches and pages", lines: texts(f.Lookups), share: 0.02},
		{title: "Your last words before this point", lines: f.lastLine(), share: 0.06},
	}
}

// requestLines cuts long requests, older ones more, and all in a small budget.
func (f *Facts) requestLines(o Options) []string {
	var out []string
	for i, r := range f.Requests {
		limit := min(500, max(120, o.Budget/4))
		if i >= len(f.Requests)-3 {
			limit = min(1600, max(240, o.Budget*2/3))
		}
		out = append(out, fmt.Sprintf("#%d: %s", r.Seq, shorten(r, limit).whole(o.Recall)))
	}
	return out
}

// whole returns the text of a fact, saying how much is left out of it.
func (r Fact) whole(recall bool) string {
	switch {
	case r.Cut == 0:
		return r.Text
	case !recall || r.Part == 0:
		return fmt.Sprintf("%s […] (%d bytes left out) […] %s", r.Text, r.Cut, r.Tail)
	}
	return fmt.Sprintf("%s […] (%d bytes left out; recall reads all of it: mode \"read\", part \"%d.%d\") […] %s", r.Text, r.Cut, r.Seq, r.Part, r.Tail)
}

// decisionLines leaves out what the last words say anyway.
func (f *Facts) decisionLines() []string {
	last := strings.Join(f.lastLine(), "")
	return texts(slices.DeleteFunc(slices.Clone(f.Decisions), func(d Fact) bool { return strings.Contains(last, oneLine(d.Text)) }))
}

// constraintLines leaves out what the requests say anyway.
func (f *Facts) constraintLines(o Options) []string {
	var out []string
	requests := f.requestLines(o)
	for _, c := range f.Constraints {
		if !slices.ContainsFunc(requests, func(r string) bool { return strings.Contains(r, c.Text) }) {
			out = append(out, fmt.Sprintf("#%d: %s", c.Seq, c.Text))
		}
	}
	return out
}

// todoLines keeps the order of the list: its beginning is worth more than its
// end, so both are reversed for the newest-first rule.
func (f *Facts) todoLines() (open, done []string) {
	for _, t := range slices.Backward(f.Todos) {
		line := oneLine(t.Content)
		switch {
		case t.Status == "cancelled":
			done = append(done, "[cancelled] "+line)
		case t.done():
			done = append(done, "[done] "+line)
		case t.Status == "in_progress":
			open = append(open, "[in progress] "+line)
		default:
			open = append(open, "[open] "+line)
		}
	}
	return open, done
}

func (f *Facts) commandLines() (failed, unsure, passed []string) {
	for _, r := range f.Commands {
		times := ""
		if r.Times > 1 {
			times = fmt.Sprintf(" (%d runs)", r.Times)
		}
		switch {
		case r.Ended && r.Exit == 0 && r.Sure:
			passed = append(passed, r.Command+times)
		case r.Ended && r.Exit == 0:
			unsure = append(unsure, fmt.Sprintf("%s%s; last line: %s", r.Command, times, lastLineOf(r.Outcome)))
		case r.Ended:
			failed = append(failed, fmt.Sprintf("%s → exit %d%s: %s", r.Command, r.Exit, times, oneLine(r.Outcome)))
		default:
			failed = append(failed, fmt.Sprintf("%s → did not end by itself%s: %s", r.Command, times, oneLine(r.Outcome)))
		}
	}
	return failed, unsure, passed
}

func lastLineOf(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "(no output)"
	}
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

func (f *Facts) fileLines(root string) (touched, looked []string) {
	for _, x := range f.Files {
		path := x.Path
		if rest, ok := strings.CutPrefix(path, root+"/"); ok && root != "" && root != "/" {
			path = rest
		}
		if x.State == read {
			if x.Part {
				path += " (in part)"
			}
			looked = append(looked, path)
			continue
		}
		touched = append(touched, path+" ("+x.State+")")
	}
	return touched, looked
}

func (f *Facts) lastLine() []string {
	if f.Last == "" {
		return nil
	}
	return []string{oneLine(tail(f.Last, 700))}
}

func texts(facts []Fact) []string {
	out := make([]string, len(facts))
	for i, x := range facts {
		out[i] = x.Text
	}
	return out
}
