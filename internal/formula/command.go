package formula

import "strings"

// command reads a command and what it is given.
func (p *parser) command() (text string, binds bool) {
	p.at++
	name := p.name()
	if s, ok := relations()[name]; ok {
		return s, false
	}
	if s, ok := symbols()[name]; ok {
		p.blanks()
		return s, true
	}
	if words()[name] {
		return name, false
	}
	if mark, ok := accents()[name]; ok {
		return accented(tidy(p.argument()), mark), true
	}
	switch name {
	case "\\", "newline", "cr":
		p.optional()
		return "\n", true
	case "frac", "dfrac", "tfrac", "cfrac":
		above := p.argument()
		return fraction(above, p.argument()), true
	case "sqrt":
		return p.root(), true
	case "binom", "dbinom", "tbinom":
		n := p.argument()
		return "(" + tidy(n) + " choose " + tidy(p.argument()) + ")", true
	case "text", "mathrm", "textrm", "textbf", "textit", "texttt", "mathtt", "mbox", "operatorname", "mathsf", "mathnormal", "hbox":
		return p.text(name), true
	case "mathbf", "boldsymbol", "bm", "mathit", "mathcal", "mathscr", "mathfrak", "displaystyle", "textstyle", "boxed", "bold", "rm", "bf", "it", "pmb":
		return p.styled(name), true
	case "mathbb":
		return double(p.argument()), true
	case "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "middle", "biggl", "biggr":
		return p.delimiter(name), true
	case "begin":
		return p.environment(), true
	case "overset", "stackrel", "underset":
		over := p.argument()
		return p.argument() + script(over, name != "underset"), false
	case "underbrace", "overbrace":
		return grouped(p.argument()), true
	case "overline", "bar":
		return accented(tidy(p.argument()), "\u0305"), true
	case "not":
		base, _ := p.atom()
		return accented(tidy(base), "\u0338"), false
	case "pmod":
		return " (mod " + tidy(p.argument()) + ")", true
	case "tag":
		return " (" + tidy(p.argument()) + ")", true
	case "hspace", "vspace", "label", "phantom", "hphantom":
		p.argument()
		return " ", true
	}
	return p.fail(), true
}

// text reads words, in which blanks count.
func (p *parser) text(name string) string {
	p.blanks()
	if p.at >= len(p.in) || p.in[p.at] != '{' {
		return p.argument()
	}
	end := strings.IndexByte(p.in[p.at:], '}')
	if end < 0 || strings.ContainsAny(p.in[p.at+1:p.at+end], `{\$^_`) {
		p.at++
		return p.sequence("}")
	}
	words := p.in[p.at+1 : p.at+end]
	p.at += end + 1
	if name == "operatorname" {
		return words + " "
	}
	return words
}

// styled reads what is set in another font, which a terminal has not.
func (p *parser) styled(name string) string {
	switch name {
	case "displaystyle", "textstyle", "rm", "bf", "it", "bold":
		return ""
	}
	return p.argument()
}

// delimiter reads what stands after \left and the like; a dot is nothing.
func (p *parser) delimiter(name string) string {
	p.blanks()
	if p.at >= len(p.in) {
		return p.fail()
	}
	text, _ := p.atom()
	if text == "." && (name == "left" || name == "right") {
		return ""
	}
	return text
}

func (p *parser) root() string {
	n := tidy(p.optional())
	of := grouped(p.argument())
	switch n {
	case "", "2":
		return "√" + of
	case "3":
		return "∛" + of
	case "4":
		return "∜" + of
	}
	if up, ok := shifted(n, true); ok {
		return up + "√" + of
	}
	return of + script("1/"+grouped(n), true)
}

func fraction(above, below string) string {
	switch text := grouped(above) + "/" + grouped(below); text {
	case "1/2":
		return "½"
	case "1/3":
		return "⅓"
	case "2/3":
		return "⅔"
	case "1/4":
		return "¼"
	case "3/4":
		return "¾"
	default:
		return text
	}
}

// accented puts a mark above a letter, or above each of several.
func accented(s, mark string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if r != ' ' && !isScript(r) {
			b.WriteString(mark)
		}
	}
	return b.String()
}

// double returns letters with a double stroke.
func double(s string) string {
	return strings.NewReplacer("N", "ℕ", "Z", "ℤ", "Q", "ℚ", "R", "ℝ", "C", "ℂ", "P", "ℙ", "H", "ℍ", "E", "𝔼", "F", "𝔽", "1", "𝟙").Replace(tidy(s))
}

// brackets returns what stands around the rows of an environment, if they are on one line.
func brackets(name string) (left, right string, inLine bool) {
	switch name {
	case "matrix", "smallmatrix", "bmatrix", "array":
		return "[", "]", true
	case "pmatrix":
		return "(", ")", true
	case "Bmatrix":
		return "{", "}", true
	case "vmatrix":
		return "|", "|", true
	case "Vmatrix":
		return "‖", "‖", true
	case "cases", "rcases":
		return "{ ", " }", true
	}
	return "", "", false
}

// environment reads rows. A matrix is on one line, equations have one each.
func (p *parser) environment() string {
	name := p.raw()
	plainName := strings.TrimSuffix(name, "*")
	left, right, inLine := brackets(plainName)
	switch plainName {
	case "aligned", "align", "gather", "gathered", "equation", "split", "multline", "alignat":
	default:
		if !inLine {
			return p.fail()
		}
	}
	if plainName == "array" || plainName == "alignat" {
		p.raw()
	}
	body := p.sequence(`\end`)
	if p.raw() != name || p.failed {
		return p.fail()
	}
	if !inLine {
		return body
	}
	return left + rows(body) + right
}

// rows puts the rows of a matrix on one line.
func rows(body string) string {
	var out []string
	for row := range strings.SplitSeq(body, "\n") {
		if row = strings.TrimSuffix(tidy(row), ","); row != "" {
			out = append(out, row)
		}
	}
	return strings.Join(out, "; ")
}
