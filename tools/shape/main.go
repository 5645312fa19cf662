// Shape prints the figures of a source tree that tell whether its rooms have
// walls: lines of each package, its widest types, and the arrows between files of
// one package that climb back up.
//
//	go run -C tools ./shape ..
//
// An arrow leads from a file to another file of its package in which something
// stands that it uses. Files are put in an order in which as few arrows as can be
// found climb back up (the greedy order of Eades, Lin and Smyth, 1993), so the
// figure is close to the least that the files allow.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"sort"
	"text/tabwriter"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("shape: ")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: shape [flags] [directory of the module]")
		flag.PrintDefaults()
	}
	rows := flag.Int("n", 25, "rows of each table")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	h, err := survey(dir)
	if err != nil {
		log.Fatal(err)
	}
	h.print(os.Stdout, *rows)
}

// house is what was found in a module.
type house struct {
	rooms []room
	types []typ
}

// room is a package.
type room struct {
	path       string
	code, test int // lines
	files      int
	arrows     int // between files
	climbing   int // of those
}

// typ is a named type with its methods (those of interfaces: the ones it lists) and its fields.
type typ struct {
	name            string
	methods, fields int
}

func (h *house) print(w io.Writer, rows int) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer out.Flush()
	code, test, large := 0, 0, 0
	for _, r := range h.rooms {
		code, test = code+r.code, test+r.test
		if r.code > 2000 {
			large += r.code
		}
	}
	fmt.Fprintf(w, "%d packages, %d lines of code, %d of tests; %d %% of the code in packages over 2,000 lines\n\n", len(h.rooms), code, test, large*100/max(code, 1))
	sort.Slice(h.rooms, func(i, k int) bool { return h.rooms[i].code > h.rooms[k].code })
	fmt.Fprintln(out, "lines\ttests\tfiles\tarrows\tclimbing\tpackage\t")
	for _, r := range h.rooms[:min(rows, len(h.rooms))] {
		fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%s\t\n", r.code, r.test, r.files, r.arrows, r.climbing, r.path)
	}
	fmt.Fprintln(out)
	sort.Slice(h.types, func(i, k int) bool { return h.types[i].methods > h.types[k].methods })
	fmt.Fprintln(out, "methods\tfields\ttype\t")
	for _, t := range h.types[:min(rows, len(h.types))] {
		fmt.Fprintf(out, "%d\t%d\t%s\t\n", t.methods, t.fields, t.name)
	}
	fmt.Fprintln(out)
	sort.Slice(h.types, func(i, k int) bool { return h.types[i].fields > h.types[k].fields })
	fmt.Fprintln(out, "fields\tmethods\ttype\t")
	for _, t := range h.types[:min(rows, len(h.types))] {
		fmt.Fprintf(out, "%d\t%d\t%s\t\n", t.fields, t.methods, t.name)
	}
}
