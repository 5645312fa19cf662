package judge

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// findings is what the walk has found so far, and how much work it took.
type findings struct {
	out     *Analysis
	src     string // the script that is walked now
	steps   *int
	spent   bool // the budget ran out, and that was reported
	reasons list
}

// spend counts work and reports, and says once, that it is too much.
func (g *findings) spend(n int) bool {
	if *g.steps += n; *g.steps <= maxSteps {
		return false
	}
	if !g.spent {
		g.spent = true
		g.dynamic(g.src, "the script is too long to judge")
		g.pieces(g.src)
	}
	return true
}

// dynamic adds a command that cannot be judged, and why.
func (g *findings) dynamic(source, reason string) {
	source = strings.TrimSpace(source)
	g.reasons.add(reason)
	for _, c := range g.out.Commands {
		if c.Dynamic && c.Text == source {
			return
		}
	}
	g.out.Commands = append(g.out.Commands, Cmd{Text: source, Dynamic: true})
}

// pieces adds what looks like a command in an unjudged script to the newest
// command, so that deny rules still have something to match: a shell runs the
// lines before the one it cannot read.
func (g *findings) pieces(script string) {
	script = script[:min(len(script), maxAnalyzed)]
	var texts list
	for part := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("\n\r\x00;&|()`{}", r) }) {
		words := strings.Fields(strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(part))
		if len(words) > 0 && len(texts.items) < 2000 {
			texts.add(strings.Join(words, " "))
		}
	}
	c := &g.out.Commands[len(g.out.Commands)-1]
	c.Also = append(c.Also, texts.items...)
}

func (g *findings) source(n syntax.Node) string {
	if n == nil {
		return ""
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(g.src) {
		return g.src
	}
	return g.src[from:to]
}

// checkControls reports characters that shells, or the person who is asked, read
// differently from what they do. The parser leaves some of them out.
func (g *findings) checkControls(src string) {
	for _, r := range src {
		if r == '\r' || r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			g.dynamic(src, "the script has the control character "+strconv.QuoteRuneToASCII(r))
			return
		}
	}
}

func (g *findings) reaches(by string) {
	if !slices.Contains(g.out.Reaches, by) {
		g.out.Reaches = append(g.out.Reaches, by)
	}
}

func (g *findings) addUse(list *[]PathUse, u PathUse) {
	for _, have := range *list {
		if have == u {
			return
		}
	}
	if len(*list) < 2000 {
		*list = append(*list, u)
	} else {
		g.dynamic(g.src, "the script names too many files")
	}
}

// useGlob records a path with wildcards: it is below the directory in front of them.
func (g *findings) useGlob(list *[]PathUse, text string, s *scope, u PathUse) {
	i := strings.IndexAny(text, "*?[")
	if i < 0 {
		i = 0
	}
	base := text[:strings.LastIndexByte(text[:i], '/')+1]
	u.Path, u.Dynamic = text, true
	dirs := s.resolve(base)
	if strings.Contains(text[i:], "..") || len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		u.Within = dir
		g.addUse(list, u)
	}
}

// checkSpaces reports characters that look like a separator but are not, or are
// one only elsewhere.
func (g *findings) checkSpaces(text string) {
	for _, r := range text {
		if r != ' ' && r != '\n' && r != '\t' && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)) {
			g.dynamic(g.src, "the script has the character "+strconv.QuoteRuneToASCII(r)+", which does not separate words although it looks so")
			return
		}
	}
}
