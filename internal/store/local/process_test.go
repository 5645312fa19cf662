package local

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/store"
)

func TestOwnerIsItsProcess(t *testing.T) {
	for _, p := range []Process{Self(), {PID: 7, Host: "a name with spaces"}, {PID: 1, Start: "12", Host: ""}, {PID: 3, Boot: "b", Host: "h"}} {
		got, err := ProcessOf(p.Owner())
		if diff := cmp.Diff(p, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, id := range []string{"", "x", "a b c d", "1 2 3"} {
		if p, err := ProcessOf(store.Owner{ID: id}); err == nil {
			t.Errorf("%q is %+v", id, p)
		}
	}
}
