package main

import "testing"

func makeFIFO(t testing.TB, _ string) {
	t.Helper()
	t.Skip("there are no named pipes in directories here")
}
