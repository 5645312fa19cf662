package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryRowIsWellFormed(t *testing.T) {
	table := programs()
	for name, row := range table.rows {
		p := &program{}
		err := table.fill(p, row.body, true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.because == "" && len(p.signs) > 0 {
			t.Errorf("%s: signs need a reason for people, as the column because", name)
		}
		if p.wraps.how != "" && (p.executes != "" || p.judge != "") {
			t.Errorf("%s: of what wraps a command neither executes nor judge is looked at", name)
		}
	}
	for other, name := range table.others {
		if _, ok := table.rows[name]; !ok {
			t.Errorf("%s is said to be %s, which has no row", other, name)
		}
	}
}

func TestEveryVariableIsWellFormed(t *testing.T) {
	for name, row := range variables().rows {
		if _, err := newVariable(row.body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSteeringVariables(t *testing.T) {
	for _, row := range []struct {
		name, text    string
		unknown, want bool
	}{
		{name: "PATH", text: "x", want: true},
		{name: "LD_PRELOAD", text: "x", want: true},
		{name: "MY_PAGER", text: "cat", want: true},
		{name: "GIT_PAGER", text: "cat"},
		{name: "GIT_PAGER", text: ""},
		{name: "GIT_PAGER", text: "(empty)", want: true},
		{name: "GIT_PAGER", unknown: true, want: true},
		{name: "GIT_AUTHOR_NAME", text: "me"},
		{name: "GIT_AUTHOR_NAME", unknown: true, want: true},
		{name: "NODE_OPTIONS", text: "--max-old-space-size=4096"},
		{name: "NODE_OPTIONS", text: "--max-old-space-size=4096 -r x", want: true},
		{name: "PS1", text: "$ "},
		{name: "PS1", text: "$(x)", want: true},
		{name: "FOO", unknown: true},
	} {
		if got := steers(row.name, field{text: row.text, known: !row.unknown}); got != row.want {
			t.Errorf("%+v: got %v", row, got)
		}
	}
}

func TestRowsAreRefused(t *testing.T) {
	rows := map[string]string{
		"a\n\treeds: -f\n":                      `a: column "reeds": there is no such column`,
		"a\n\treads: -f\n\nb, a\n\treads: -g\n": `"a" has two rows`,
		"a\n\treads: f\n":                       `a: column "reads": "f" is not an option`,
		"a\n\tvalues: -file\n":                  `a: column "values": "-file" is not an option of the form -x or --name`,
		"a\n\tvalues: --f\n":                    `a: column "values": "--f" is not an option of the form -x or --name`,
		"a\n\tvalues: f\n":                      `a: column "values": "f" is not an option of the form -x or --name`,
		"a\n\treads: -f\n\treads: -g\n":         `a: the column "reads" appears twice`,
		"a\n\treads:\n":                         `a: the line "reads:" is not a column`,
		"a\n\tjudge: nobody\n":                  `a: column "judge": there is no function "nobody"`,
		"a\n\tis: idle\n":                       `a: column "is": "idle" is not one of: ` + marks,
		"a\n\twraps: some\n":                    `a: column "wraps": "some" is not one of: all after here script words`,
		"a\n\talways: 9\n":                      `a: column "always": "9" is not how many words to remember`,
		"a\n\tlike: @b\n":                       `a: column "like": there is no "@b"`,
		"@b\n\tis: inert\n\na\n\tlike: b\n":     `a: "like" names a pattern, as the first column, and no pattern has it`,
		"\treads: -f\n":                         `the columns "\treads: -f\n" belong to no program`,
		"x, y = a\nx = b\n":                     `"x" is declared twice as another name`,
	}
	for text, want := range rows {
		table, err := newTable(text)
		if err == nil {
			_, err = table.program("a")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestRow(t *testing.T) {
	table, err := newTable(`# A comment.
@base
	operands: read
	values: -n
	is: inert

one, two,
three
	like: @base
	operands: write
	values: -m
		--mode
	runs: tool run, first
	always: 2 run=3

uno = one
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.program(table.canonical("uno"))
	if err != nil {
		t.Fatal(err)
	}
	want := &program{operands: "write", values: "n m mode", flags: "inert", runs: []string{"tool run", ""}, always: map[string]int{"": 2, "run": 3}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(program{}, wrapping{}, change{})); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if three, _ := table.program("three"); !cmp.Equal(three, got, cmp.AllowUnexported(program{}, wrapping{}, change{})) {
		t.Errorf("a name in the next line has another row: %+v", three)
	}
}

func TestCanonicalNames(t *testing.T) {
	for name, want := range map[string]string{
		"python3.11": "python", "nodejs": "node", "bash5": "bash", "bash-static": "bash", "vim.tiny": "vim", "clang++-15": "clang++", "pypy3": "python3",
		"git": "git", "unknown2": "unknown2", "base64": "base64",
	} {
		if got := programs().canonical(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("a, b\n\treads: -f\n\tvalues: -x\n\t\t--long\n")
	f.Add("@x\n\tis: inert\na\n\tlike: @x\nb = a\n# c\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := newTable(text)
		if err != nil {
			return
		}
		for name := range table.rows {
			_, _ = table.program(name)
			_ = table.canonical(strings.ToLower(name))
		}
	})
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		if _, err := newTable(programsText); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		lookup("rsync")
	}
}
