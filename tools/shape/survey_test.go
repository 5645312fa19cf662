package main

import "testing"

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

func TestClimbing(t *testing.T) {
	for _, c := range []struct {
		name string
		to   map[string]map[string]bool
		want int
	}{
		{"layers", map[string]map[string]bool{"a": set("b", "c"), "b": set("c"), "c": set()}, 0},
		{"pair", map[string]map[string]bool{"a": set("b"), "b": set("a")}, 1},
		{"ring", map[string]map[string]bool{"a": set("b"), "b": set("c"), "c": set("a"), "d": set("a")}, 1},
		{"two rings", map[string]map[string]bool{"a": set("b"), "b": set("a", "c"), "c": set("d"), "d": set("c")}, 2},
	} {
		if got := climbing(c.to); got != c.want {
			t.Errorf("%s: %d arrows climb, want %d", c.name, got, c.want)
		}
	}
}

// The program is a small tree of its own that it can look at.
func TestSurvey(t *testing.T) {
	h, err := survey(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(h.rooms) != 1 || h.rooms[0].files != 2 || h.rooms[0].code < 100 || h.rooms[0].test < 20 {
		t.Errorf("rooms: %+v", h.rooms)
	}
	got := map[string]typ{}
	for _, t := range h.types {
		got[t.name] = t
	}
	if ty := got["lathe/tools/shape.house"]; ty.methods != 1 || ty.fields != 2 {
		t.Errorf("house is %+v", ty)
	}
}
