//go:build amd64 || arm64

package sandbox

import (
	"strings"
	"testing"
)

// Attempt is a row of the tables for tests of what stops it besides confinement.
type Attempt struct{ Name, Script, Confined string }

// Attempts lists the rows of both tables. Confined says which level holds each: files,
// full, or none. The calls that the filter refuses have one name, for their numbers differ
// between machines.
func Attempts() (list []Attempt) {
	for _, e := range append(escapes(), adversaries...) {
		a := Attempt{Name: strings.ReplaceAll(e.name, "\n", " "), Script: e.script, Confined: "files"}
		switch {
		case e.known != "":
			a.Confined = "none"
		case e.files != "" || e.network:
			a.Confined = "full"
		case strings.HasPrefix(e.name, "system call "):
			a.Name = "system call"
		}
		list = append(list, a)
	}
	return list
}

// NewArena makes the project of the tables, and what lies around it, and returns the
// variables that their scripts use.
func NewArena(t testing.TB) (base, home string, env []string) {
	a := newArena(t)
	return a.base, a.home, append(a.env, "BASE="+a.base)
}
