package judge

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// program is one row of programs.txt, which explains what each column means.
// Lists of options are kept as words, in the form that the functions searching
// them want.
type program struct {
	judge string // name of the function that knows the rest
	wraps wrapping

	runs     []string // leads after which another program stands
	executes string   // options with dashes, as in reads, writes and output
	signs    []string
	because  string

	operands string // how the words that are not options are used
	values   string // options that take the next word, without dashes
	reads    string
	writes   string
	output   string
	rewrites []string // options with dashes

	changes  change
	content  string   // what the files it writes contain
	network  []string // commands of it, or "always"
	flags    string
	known    string // commands of git
	settings string // harmless settings of git

	always map[string]int // how many leading words an "always" reply remembers, by the second
}

// wrapping says how a program's command line leads to the command that it runs.
type wrapping struct {
	how    string // which words are the command; empty if none are
	skip   int    // words before it
	script string // options whose value is a script, without dashes
	marks  string
}

// change is what a program changes besides the files it names.
type change struct {
	words string // first words with which it does; or "always", or "words" for any
	what  string
	looks string // words with which it does not
}

//go:embed programs.txt
var programsText string

// programs is the table. Its names are found when the first command is judged; a row is
// read when it is first asked for.
var programs = sync.OnceValue(func() *table {
	t, err := newTable(programsText)
	if err != nil {
		panic(err)
	}
	return t
})

// nothing is the row of programs that the table does not contain.
var nothing = &program{}

// lookup returns the row of a name, or one that says nothing.
func lookup(name string) *program {
	p, err := programs().program(name)
	if err != nil {
		panic(err) // a test reads every row
	}
	return p
}

// is reports whether a row has a mark of the column "is".
func (p *program) is(mark string) bool { return in(mark, p.flags) }

// table holds rows by the name of their programs.
type table struct {
	rows   map[string]*row
	others map[string]string // other names of programs
	stars  []string          // names that begin or end in "*"
}

// row is the text of one row, and the program it describes once that has been asked for.
type row struct {
	body string
	once sync.Once
	prog *program
	err  error
}

// newTable finds the rows of a text. It refuses a name that has two.
func newTable(text string) (*table, error) {
	t := &table{rows: make(map[string]*row, 1024), others: map[string]string{}}
	for text != "" {
		head, rest := cutRow(text)
		body, after := cutBody(rest)
		text = after
		switch left, name, other := strings.Cut(head, " = "); {
		case head == "":
			if body != "" {
				return nil, fmt.Errorf("the columns %q belong to no program", body)
			}
		case other:
			for _, n := range strings.Split(left, ", ") {
				if t.others[n] != "" {
					return nil, fmt.Errorf("%q is declared twice as another name", n)
				}
				t.others[n] = name
			}
		default:
			if err := t.add(head, body); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t *table) add(head, body string) error {
	r := &row{body: body}
	for more := true; more; {
		var name string
		name, head, more = strings.Cut(head, ", ")
		if t.rows[name] != nil {
			return fmt.Errorf("%q has two rows", name)
		}
		t.rows[name] = r
		if strings.Contains(name, "*") {
			t.stars = append(t.stars, name)
		}
	}
	return nil
}

// cutRow returns the names at the beginning of a text, without comments and empty
// lines. They go on in the next line after a comma.
func cutRow(text string) (head, rest string) {
	for text != "" && text[0] != '\t' {
		line, after, _ := strings.Cut(text, "\n")
		text = after
		if line == "" || line[0] == '#' {
			continue
		}
		head += line
		if !strings.HasSuffix(line, ",") {
			break
		}
		head += " "
	}
	return head, text
}

// cutBody returns the lines that begin with a tab.
func cutBody(text string) (body, rest string) {
	end := 0
	for end < len(text) && text[end] == '\t' {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			return text, ""
		}
		end += n + 1
	}
	return text[:end], text[end:]
}

// canonical returns the name under which a program with several names is judged.
func (t *table) canonical(name string) string {
	if known := t.others[name]; known != "" {
		return known
	}
	plain, _, _ := strings.Cut(name, ".")
	for _, short := range []string{
		strings.TrimSuffix(strings.TrimSuffix(name, "-static"), ".static"), strings.TrimRight(name, "0123456789.-"), plain, strings.TrimRight(plain, "0123456789-"),
	} {
		if short != name && t.versioned(short) {
			return short
		}
	}
	return name
}

func (t *table) versioned(name string) bool {
	p, err := t.program(name)
	return err == nil && p.is("versioned")
}

// find returns the row of a name, or nil.
func (t *table) find(name string) *row {
	if strings.HasPrefix(name, "@") { // a pattern of rows
		return nil
	}
	if r := t.rows[name]; r != nil {
		return r
	}
	for _, star := range t.stars {
		ending, ends := strings.CutPrefix(star, "*")
		if ends && strings.HasSuffix(name, ending) || !ends && strings.HasPrefix(name, star[:len(star)-1]) {
			return t.rows[star]
		}
	}
	return nil
}

func (t *table) program(name string) (*program, error) {
	r := t.find(name)
	if r == nil {
		return nothing, nil
	}
	r.once.Do(func() {
		r.prog = &program{}
		r.err = t.fill(r.prog, r.body, true)
	})
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", name, r.err)
	}
	return r.prog, nil
}

// fill reads the columns of a row.
func (t *table) fill(p *program, body string, mayBeLike bool) error {
	seen := make([]string, 0, 16)
	for body != "" {
		line, rest := cutColumn(body)
		body = rest
		name, value, ok := strings.Cut(line, ": ")
		switch {
		case !ok || value == "":
			return fmt.Errorf("the line %q is not a column", line)
		case slices.Contains(seen, name):
			return fmt.Errorf("the column %q appears twice", name)
		case name == "like" && (!mayBeLike || len(seen) > 0 || !strings.HasPrefix(value, "@")):
			return errors.New(`"like" names a pattern, as the first column, and no pattern has it`)
		}
		seen = append(seen, name)
		if err := t.set(p, name, value); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
	return nil
}

// cutColumn returns a column, which goes on in lines that begin with two tabs.
func cutColumn(body string) (line, rest string) {
	line, rest, _ = strings.Cut(strings.TrimPrefix(body, "\t"), "\n")
	for strings.HasPrefix(rest, "\t\t") {
		more, after, _ := strings.Cut(rest[2:], "\n")
		line, rest = line+" "+more, after
	}
	return line, rest
}

func (t *table) set(p *program, column, value string) error {
	switch column {
	case "like":
		r, ok := t.rows[value]
		if !ok {
			return fmt.Errorf("there is no %q", value)
		}
		return t.fill(p, r.body, false)
	case "judge":
		if p.judge = value; exception(value) == nil && builtin(value) == nil && addition(value) == nil {
			return fmt.Errorf("there is no function %q", value)
		}
	case "wraps":
		return p.setWraps(value)
	case "runs":
		p.runs = leads(value)
	case "signs":
		p.signs = strings.Fields(value)
	case "because":
		p.because = value
	case "operands":
		p.operands = value
		return words(value, "read write search tree list pattern remove mode copy move link dd change format unpack")
	case "content":
		return one(&p.content, value, "unknown input copied")
	case "changes":
		var ok bool
		if p.changes.words, p.changes.what, ok = strings.Cut(value, " = "); !ok {
			return errors.New(`it does not say what is changed, after " = "`)
		}
	case "looks":
		p.changes.looks = value
	case "network":
		p.network = strings.Split(value, ", ")
	case "is":
		p.flags = join(p.flags, value)
		return words(value, marks)
	case "known":
		p.known = value
	case "settings":
		p.settings = value
	case "always":
		return p.setAlways(value)
	default:
		return p.setOptions(column, value)
	}
	return nil
}

const marks = "inert versioned waits input-is-data runs-input quoted-scripts runs-by-option wildcard-risk takes-address"

// setOptions sets a column that lists options.
func (p *program) setOptions(column, value string) error {
	var err error
	switch column {
	case "executes":
		p.executes, err = dashed(p.executes, value)
	case "reads":
		p.reads, err = dashed(p.reads, value)
	case "writes":
		p.writes, err = dashed(p.writes, value)
	case "output":
		p.output, err = dashed(p.output, value)
	case "rewrites":
		p.rewrites = strings.Fields(value)
		_, err = dashed("", value)
	case "values":
		p.values, err = bare(p.values, value)
	case "script":
		p.wraps.script, err = bare("", value)
	default:
		return errors.New("there is no such column")
	}
	return err
}

func (p *program) setWraps(value string) error {
	how, rest, _ := strings.Cut(value, " ")
	if how == "after" {
		number, more, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		p.wraps.skip, rest = n, more
	}
	p.wraps.how, p.wraps.marks = how, rest
	if err := words(how, "all after here script words"); err != nil {
		return err
	}
	return words(rest, "unfollowed loose")
}

// setAlways reads "2 run=3": two words, but three where the second is "run".
func (p *program) setAlways(value string) error {
	p.always = map[string]int{}
	for word := range strings.FieldsSeq(value) {
		second, number, ok := strings.Cut(word, "=")
		if !ok {
			second, number = "", word
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 2 || n > 3 {
			return fmt.Errorf("%q is not how many words to remember", word)
		}
		p.always[second] = n
	}
	return nil
}

// leads reads what stands before a program, "first" being nothing.
func leads(value string) []string {
	out := strings.Split(value, ", ")
	for i, lead := range out {
		if lead == "first" {
			out[i] = ""
		}
	}
	return out
}

func one(at *string, value, known string) error {
	*at = value
	return words(value, known)
}

// words refuses words that are not known.
func words(value, known string) error {
	for word := range strings.FieldsSeq(value) {
		if !in(word, known) {
			return fmt.Errorf("%q is not one of: %s", word, known)
		}
	}
	return nil
}

// dashed adds options of any form to a list.
func dashed(list, value string) (string, error) {
	for word := range strings.FieldsSeq(value) {
		if len(word) < 2 || word[0] != '-' || strings.Trim(word, "-") == "" {
			return "", fmt.Errorf("%q is not an option", word)
		}
	}
	return join(list, value), nil
}

// bare adds options that are a letter or a long name to a list, without the dashes.
func bare(list, value string) (string, error) {
	for word := range strings.FieldsSeq(value) {
		name, long := strings.CutPrefix(word, "--")
		if !long {
			name = strings.TrimPrefix(word, "-")
		}
		if name == word || name == "" || name[0] == '-' || long != (len(name) > 1) {
			return "", fmt.Errorf("%q is not an option of the form -x or --name", word)
		}
		list = join(list, name)
	}
	return list, nil
}

func join(list, more string) string {
	if list == "" {
		return more
	}
	return list + " " + more
}
