package main

import "testing"

// TestFactsSurvive holds the figures on a shorter session than the command plays.
func TestFactsSurvive(t *testing.T) {
	for _, s := range summaries {
		r, err := Play(t.Context(), Options{Steps: 100, Window: 18_000, Summary: s.text})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.check(); err != nil {
			t.Errorf("%s summaries: %v (lost: %v)", s.name, err, r.Lost)
		}
	}
}
