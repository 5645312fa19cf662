package main

import (
	"errors"
	"fmt"
	"io"
)

// result is a scenario without its mistake and with it.
type result struct{ right, wrong outcome }

// lost is how many steps the mistake cost.
func (r result) lost() int { return r.wrong.steps - r.right.steps }

// told says in a word what the model learned of its mistake.
func (r result) told() string {
	switch {
	case r.right.err != nil:
		return "cannot be played"
	case r.wrong.err != nil && len(r.wrong.silent) > 0:
		return "not done, silent"
	case r.wrong.err != nil:
		return "not done"
	case len(r.wrong.silent) > 0:
		return "silent"
	case len(r.wrong.untold) > 0:
		return "not of use"
	case r.lost() <= 0:
		return "understood"
	}
	return "told"
}

// missed says why a result misses the goal: at most one step lost, nothing silent.
func (r result) missed() error {
	switch {
	case r.right.err != nil:
		return fmt.Errorf("it fails without the mistake: %w", r.right.err)
	case len(r.right.silent)+len(r.right.untold) > 0:
		return fmt.Errorf("it goes wrong without the mistake: %v%v", r.right.silent, r.right.untold)
	case r.wrong.err != nil:
		return fmt.Errorf("the work was not done: %w %v", r.wrong.err, append(r.wrong.silent, r.wrong.untold...))
	case len(r.wrong.silent) > 0:
		return fmt.Errorf("nothing told of the mistake: %v", r.wrong.silent)
	case r.lost() > 1:
		return fmt.Errorf("it cost %d steps %v", r.lost(), r.wrong.untold)
	}
	return nil
}

// table is what was measured, class by class.
type table struct {
	programs []*program
	rows     []row
}

type row struct {
	s       *scenario
	results []result
}

func newTable(programs []*program) *table { return &table{programs: programs} }

func (t *table) add(s *scenario, results []result) { t.rows = append(t.rows, row{s, results}) }

// print writes one line for each scenario, then one for each class.
func (t *table) print(w io.Writer) {
	fmt.Fprint(w, "| class | mistake | steps without it |")
	for _, p := range t.programs {
		fmt.Fprintf(w, " %s: with it | lost | told |", p.name)
	}
	fmt.Fprint(w, "\n| --- | --- | --- |")
	for range t.programs {
		fmt.Fprint(w, " --- | --- | --- |")
	}
	fmt.Fprintln(w)
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s | %s | %d |", r.s.class, r.s.name, r.results[0].right.steps)
		for _, res := range r.results {
			fmt.Fprintf(w, " %d | %d | %s |", res.wrong.steps, res.lost(), res.told())
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	t.classes(w)
}

// classes sums up by class: mistakes, steps lost, and how many were silent or left the
// work undone.
func (t *table) classes(w io.Writer) {
	var order []string
	byClass := map[string][]row{}
	for _, r := range t.rows {
		if byClass[r.s.class] == nil {
			order = append(order, r.s.class)
		}
		byClass[r.s.class] = append(byClass[r.s.class], r)
	}
	fmt.Fprint(w, "| class | mistakes |")
	for _, p := range t.programs {
		fmt.Fprintf(w, " %s: steps lost, most | silent | not done |", p.name)
	}
	fmt.Fprint(w, "\n| --- | --- |")
	for range t.programs {
		fmt.Fprint(w, " --- | --- | --- |")
	}
	fmt.Fprintln(w)
	for _, class := range append(order, "") {
		rows, name := byClass[class], class
		if class == "" {
			rows, name = t.rows, "all"
		}
		fmt.Fprintf(w, "| %s | %d |", name, len(rows))
		for i := range t.programs {
			lost, most, silent, undone := sum(rows, i)
			fmt.Fprintf(w, " %d, %d | %d | %d |", lost, most, silent, undone)
		}
		fmt.Fprintln(w)
	}
}

// sum counts only the steps of work that was done.
func sum(rows []row, program int) (lost, most, silent, undone int) {
	for _, r := range rows {
		res := r.results[program]
		if len(res.wrong.silent) > 0 {
			silent++
		}
		if res.wrong.err != nil || res.right.err != nil {
			undone++
			continue
		}
		lost, most = lost+max(0, res.lost()), max(most, res.lost())
	}
	return lost, most, silent, undone
}

// verdict is an error where the first program misses the goal.
func (t *table) verdict() error {
	var errs []error
	for _, r := range t.rows {
		if err := r.results[0].missed(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", r.s.class, r.s.name, err))
		}
	}
	return errors.Join(errs...)
}
