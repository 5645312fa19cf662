package search

import "strings"

// pattern is one line of an ignore file.
type pattern struct {
	negate   bool
	dirOnly  bool
	basename bool   // no slash inside: compared with the last element only
	prefix   string // literal start
	exact    bool   // prefix is all there is
	suffix   string // with starSuffix: what must follow a single leading "*"
	star     bool
	rest     glob // what follows prefix
}

// parsePattern reads a line as git does; ok is false for blanks and comments.
func parsePattern(line string) (p pattern, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	if line == "" || line[0] == '#' {
		return p, false
	}
	line = trimBlanks(line)
	line, p.negate = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.basename = !strings.Contains(line, "/")
	if line == "" {
		return p, false
	}
	if !p.basename {
		line = strings.TrimPrefix(line, "/")
	}
	special := strings.IndexAny(line, `*?[\`)
	switch {
	case special < 0:
		p.prefix, p.exact = line, true
	case p.basename && line[0] == '*' && !strings.ContainsAny(line[1:], `*?[\`):
		p.suffix, p.star = line[1:], true
	default:
		// The glob starts after the literal part, as in git, where "ab**/c"
		// therefore also matches "abx/y/c".
		if p.basename {
			special = 0
		}
		p.prefix, p.rest = line[:special], compileGlob(line[special:], !p.basename)
	}
	return p, true
}

// trimBlanks removes trailing blanks that no backslash protects.
func trimBlanks(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			if i == len(s) {
				return s // git leaves such a line as it is
			}
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

// match compares with a path relative to the file's directory, and its last element.
func (p *pattern) match(path, base string, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	if p.basename {
		path = base
	}
	switch {
	case p.exact:
		return path == p.prefix
	case p.star:
		return strings.HasSuffix(path, p.suffix)
	case !strings.HasPrefix(path, p.prefix):
		return false
	}
	return p.rest.match(path[len(p.prefix):])
}

// glob is a compiled wildcard pattern over bytes. It is matched by following
// all possibilities at once, so no pattern takes more than its length times the
// text's.
type glob struct {
	tokens []token
	// need is a text that every match contains; it rules out most texts by itself.
	need string
	// least is how many bytes every match has: patterns longer than any path cost
	// nothing to compare.
	least int
}

type token struct {
	kind tokenKind
	char byte
	set  *byteSet
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) drop(c byte)     { s[c>>6] &^= 1 << (c & 63) }

// The sets of "?": all bytes, and all but the slash.
var (
	anyByte  = &byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	notSlash = &byteSet{^uint64(0) &^ (1 << '/'), ^uint64(0), ^uint64(0), ^uint64(0)}
)

type tokenKind uint8

const (
	literal    tokenKind = iota // char
	oneOf                       // a byte of set
	anyRun                      // bytes without a slash, or none
	anyPath                     // any bytes, or none
	maybeDirs                   // nothing, or the inDirs that always follows it
	inDirs                      // any bytes followed by a slash
	impossible                  // never
)

// compileGlob reads git's wildcards. With path set a slash is matched only by a
// slash or by "**" between slashes.
func compileGlob(s string, path bool) glob {
	tokens := globTokens(s, path)
	g := glob{tokens: tokens, need: longestLiteral(tokens)}
	for _, t := range tokens {
		if t.kind == literal || t.kind == oneOf {
			g.least++
		}
	}
	return g
}

// longestLiteral returns the longest run of characters that stand for themselves.
func longestLiteral(tokens []token) string {
	var best, run []byte
	for _, t := range tokens {
		if t.kind != literal {
			run = run[:0]
			continue
		}
		if run = append(run, t.char); len(run) > len(best) {
			best = append(best[:0], run...)
		}
	}
	return string(best)
}

func globTokens(s string, path bool) []token {
	var out []token
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*':
			start := i
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
			out, i = appendStars(out, s, start, i, path)
		case '?':
			set := anyByte
			if path {
				set = notSlash
			}
			out = append(out, token{kind: oneOf, set: set})
		case '[':
			set, end := class(s, i)
			if end < 0 {
				return []token{{kind: impossible}}
			}
			if path {
				set.drop('/')
			}
			out = append(out, token{kind: oneOf, set: set})
			i = end
		case '\\':
			if i++; i == len(s) {
				return []token{{kind: impossible}}
			}
			out = append(out, token{kind: literal, char: s[i]})
		default:
			out = append(out, token{kind: literal, char: s[i]})
		}
	}
	return out
}

// appendStars adds the run of stars s[start..end]; it returns the last index used.
func appendStars(out []token, s string, start, end int, path bool) ([]token, int) {
	rest := s[end+1:]
	switch {
	case !path:
		return append(out, token{kind: anyPath}), end
	case end == start:
		return append(out, token{kind: anyRun}), end
	case start > 0 && s[start-1] != '/', rest != "" && rest[0] != '/' && !strings.HasPrefix(rest, `\/`):
		return append(out, token{kind: anyRun}), end
	case rest != "" && rest[0] == '/':
		if n := len(out); n > 0 && out[n-1].kind == inDirs { // "**/**/" means the same as "**/"
			return out, end + 1
		}
		return append(out, token{kind: maybeDirs}, token{kind: inDirs}), end + 1
	}
	return append(out, token{kind: anyPath}), end
}

// class reads a bracket expression at s[i]; end is the index of its "]", or -1
// if it is not closed or names an unknown class.
func class(s string, i int) (set *byteSet, end int) {
	set = new(byteSet)
	negate := false
	if i++; i < len(s) && (s[i] == '!' || s[i] == '^') {
		negate = true
		i++
	}
	prev := 0   // the start of a possible range
	closed := 0 // position of the next "]", once it was looked for
	for first := true; ; first = false {
		if i >= len(s) {
			return nil, -1
		}
		c := s[i]
		switch {
		case c == ']' && !first:
			if negate {
				for j := range set {
					set[j] = ^set[j]
				}
			}
			return set, i
		case c == '-' && prev != 0 && i+1 < len(s) && s[i+1] != ']':
			if i++; s[i] == '\\' {
				i++
			}
			if i >= len(s) {
				return nil, -1
			}
			for j := prev; j <= int(s[i]); j++ {
				set.add(byte(j))
			}
			prev = 0
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			if closed < i+2 {
				at := strings.IndexByte(s[i+2:], ']')
				if at < 0 {
					return nil, -1
				}
				closed = i + 2 + at
			}
			name, isClass := strings.CutSuffix(s[i+2:closed], ":")
			if !isClass { // a plain "[", after which ":" and the rest are read again
				set.add('[')
				prev = '['
				break
			}
			if !addClass(set, name) {
				return nil, -1
			}
			i = closed
			prev = 0
		default:
			if c == '\\' {
				if i++; i >= len(s) {
					return nil, -1
				}
				c = s[i]
			}
			set.add(c)
			prev = int(c)
		}
		i++
	}
}

func addClass(set *byteSet, name string) bool {
	lower := func(c int) bool { return c >= 'a' && c <= 'z' }
	upper := func(c int) bool { return c >= 'A' && c <= 'Z' }
	digit := func(c int) bool { return c >= '0' && c <= '9' }
	graph := func(c int) bool { return c > ' ' && c < 0x7f }
	alnum := func(c int) bool { return lower(c) || upper(c) || digit(c) }
	in := map[string]func(int) bool{
		"lower": lower, "upper": upper, "digit": digit, "graph": graph, "alnum": alnum,
		"alpha": func(c int) bool { return lower(c) || upper(c) },
		"blank": func(c int) bool { return c == ' ' || c == '\t' },
		"cntrl": func(c int) bool { return c < ' ' || c == 0x7f },
		"print": func(c int) bool { return c == ' ' || graph(c) },
		"punct": func(c int) bool { return graph(c) && !alnum(c) },
		"space": func(c int) bool { return c == ' ' || c >= '\t' && c <= '\r' },
		"xdigit": func(c int) bool {
			return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		},
	}[name]
	if in == nil {
		return false
	}
	for c := range 128 {
		if in(c) {
			set.add(byte(c))
		}
	}
	return true
}

// match reports whether the whole text matches. Bit i of the state says that
// tokens before i have matched so far.
func (g glob) match(text string) bool {
	return len(text) >= g.least && strings.Contains(text, g.need) && g.follow(text)
}

func (g glob) follow(text string) bool {
	var small [64]bool
	state := small[:0]
	if len(g.tokens)+1 > len(small)/2 {
		state = make([]bool, 0, 2*(len(g.tokens)+1))
	}
	state = state[:2*(len(g.tokens)+1)]
	now, next := state[:len(g.tokens)+1], state[len(g.tokens)+1:]
	now[0] = true
	g.skip(now)
	for i := range len(text) {
		clear(next)
		alive := false
		for at, on := range now[:len(g.tokens)] {
			if on && g.tokens[at].step(text[i], at, next) {
				alive = true
			}
		}
		if !alive {
			return false
		}
		g.skip(next)
		now, next = next, now
	}
	return now[len(g.tokens)]
}

// skip adds the states reachable without reading.
func (g glob) skip(state []bool) {
	for at, t := range g.tokens {
		if !state[at] {
			continue
		}
		switch t.kind {
		case anyRun, anyPath:
			state[at+1] = true
		case maybeDirs:
			state[at+1], state[at+2] = true, true
		}
	}
}

// step reads c in state at and reports whether that leads anywhere.
func (t token) step(c byte, at int, next []bool) bool {
	switch t.kind {
	case literal:
		if c == t.char {
			next[at+1] = true
			return true
		}
	case oneOf:
		if t.set.has(c) {
			next[at+1] = true
			return true
		}
	case anyRun:
		if c != '/' {
			next[at] = true
			return true
		}
	case anyPath:
		next[at] = true
		return true
	case inDirs:
		next[at] = true
		if c == '/' {
			next[at+1] = true
		}
		return true
	}
	return false
}
