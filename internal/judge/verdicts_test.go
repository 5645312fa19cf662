package judge

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/verdicts.txt")

// TestVerdicts holds what is said of two thousand commands, made from the programs and
// options of the table. A verdict that changes is to be read like code.
func TestVerdicts(t *testing.T) {
	const file = "testdata/verdicts.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\n"), "\n\n") {
		first, _, _ := strings.Cut(block, "\n")
		script := first
		if strings.HasPrefix(first, `"`) {
			if script, err = strconv.Unquote(first); err != nil {
				t.Fatalf("%s: %v", first, err)
			}
		}
		got := first + "\n" + verdict(Analyze(script, testEnv()))
		out.WriteString(got + "\n")
		if got != block+"\n" && !*update {
			t.Errorf("verdict (-want +got):\n%s", cmp.Diff(strings.Split(block+"\n", "\n"), strings.Split(got, "\n")))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// verdict tells an analysis in lines.
func verdict(a Analysis) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, "\t"+format+"\n", args...) }
	for _, c := range a.Commands {
		kind := "runs"
		if c.Dynamic {
			kind = "may run anything, beginning " + strconv.Quote(c.Prefix) + ":"
		}
		line("%s %q", kind, c.Text)
		for _, text := range c.Also {
			line("  or %q", text)
		}
		for _, text := range c.Runs {
			line("  may run %q", text)
		}
		if c.Always != "" && c.Always != c.Text+" *" {
			line("  always %q", c.Always)
		}
	}
	for _, u := range a.Reads {
		line("reads%s", use(u))
	}
	for _, u := range a.Writes {
		line("writes%s", use(u))
	}
	for _, by := range a.Reaches {
		line("reaches the network by %s", by)
	}
	if a.Waits != "" {
		line("waits for keys: %s", a.Waits)
	}
	if a.Unparsed != nil {
		line("cannot be read: %v", a.Unparsed)
	}
	for _, r := range a.Reasons {
		line("because %s", r)
	}
	return out.String()
}

func use(u PathUse) string {
	var out strings.Builder
	if u.Dynamic {
		out.WriteString(" any of")
	}
	if u.Dir {
		out.WriteString(" the directory")
	}
	fmt.Fprintf(&out, " %q", u.Path)
	if u.Within != "" {
		fmt.Fprintf(&out, " within %q", u.Within)
	}
	if u.Tree {
		out.WriteString(" and all below")
	}
	return out.String() + " by " + u.By
}
