package judge

// judgement is what is said of one command of a script.
type judgement struct {
	findings *findings
	source   string
	at       int // index of its Cmd
}

func (j *judgement) entry() *Cmd { return &j.findings.out.Commands[j.at] }

// opaque marks the command as one whose effect is unknown: it may run anything.
func (j *judgement) opaque(reason string) { j.unclear(reason, "") }

// unclear marks the command as one of which only the beginning of its text is known.
func (j *judgement) unclear(reason, prefix string) {
	j.findings.reasons.add(reason)
	c := j.entry()
	if c.Dynamic {
		c.Prefix = commonPrefix(c.Prefix, prefix)
		return
	}
	c.Also = append(c.Also, c.Text)
	c.Dynamic, c.Always, c.Text, c.Prefix = true, "", j.source, prefix
}

// runs notes commands that only denials count for.
func (j *judgement) runs(texts ...string) {
	c := j.entry()
	c.Runs = append(c.Runs, texts...)
}

// also adds a text that deny rules know the command by.
func (j *judgement) also(words []field) {
	c := j.entry()
	c.Also = append(c.Also, joinWords(words))
}

func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
