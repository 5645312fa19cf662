package sessions

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// Every field of a window is in what scripts read, also one that is added later.
func TestWindowJSONHasEveryField(t *testing.T) {
	fields, err := windowJSON(api.Window{Used: 5, Limit: 10, Cost: 2e12})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for f := range reflect.TypeFor[api.Window]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if other, named := otherNames[name]; named {
			name = other
		}
		if name != "" {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if fields["tokens"] != 5.0 || fields["context"] != 10.0 || fields["cost"] != 2.0 {
		t.Errorf("%v of %v for %v", fields["tokens"], fields["context"], fields["cost"])
	}
}
