package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

func TestProjectRequest(t *testing.T) {
	full := lathe.Project{ID: "p", Name: "n", Icon: lathe.Icon{URL: "https://a/b.png", Override: "data:image/png;base64,AA==", Color: "blue"}, Start: "make deps"}
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		body  string
		from  lathe.Project
		want  lathe.Project
		field string // that is refused
	}{
		{body: `{}`, from: full, want: full},
		{body: `{"name":null,"icon":null,"commands":null,"other":1}`, from: full, want: full},
		{body: `{"name":" 名前 "}`, want: lathe.Project{Name: "名前"}},
		{body: `{"icon":{"color":""}}`, from: full, want: lathe.Project{ID: "p", Name: "n", Icon: lathe.Icon{URL: full.Icon.URL, Override: full.Icon.Override}, Start: "make deps"}},
		{body: `{"name":"","icon":{"url":"","override":"","color":""},"commands":{"start":""}}`, from: full, want: lathe.Project{ID: "p"}},
		{body: `{"commands":{"start":"a\nb"}}`, want: lathe.Project{Start: "a\nb"}},
		{body: `{"name":"a\nb"}`, from: full, want: full, field: "name"},
		{body: `{"name":"kept?","icon":{"url":"javascript:alert(1)"}}`, from: full, want: full, field: "icon.url"},
		{body: `{"icon":{"override":"data:text/html,x"}}`, from: full, want: full, field: "icon.override"},
		{body: `{"icon":{"override":"data:image/png;base64,` + big + `"}}`, from: full, want: full, field: "icon.override"},
		{body: `{"icon":{"color":"` + big[:100] + `"}}`, from: full, want: full, field: "icon.color"},
		{body: `{"commands":{"start":"a\u0000b"}}`, from: full, want: full, field: "commands.start"},
		{body: `{"commands":{"start":"` + big + `"}}`, from: full, want: full, field: "commands.start"},
	} {
		var r ProjectRequest
		if err := json.Unmarshal([]byte(c.body), &r); err != nil {
			t.Fatal(err)
		}
		got := c.from
		field, err := r.Apply(&got)
		if field != c.field || (err != nil) != (c.field != "") {
			t.Errorf("%.80s: %q, %v", c.body, field, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", c.body, diff)
		}
	}
}

func FuzzProjectRequest(f *testing.F) {
	f.Add([]byte(`{"name":"n","icon":{"url":"https://a","override":"data:image/png;base64,AA==","color":"blue"},"commands":{"start":"make"}}`))
	f.Add([]byte(`{"icon":{"url":"DATA:IMAGE/x"},"name":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r ProjectRequest
		if json.Unmarshal(data, &r) != nil {
			return
		}
		var p lathe.Project
		if _, err := r.Apply(&p); err != nil {
			if diff := cmp.Diff(lathe.Project{}, p); diff != "" {
				t.Errorf("refused and changed:\n%s", diff)
			}
			return
		}
		again := p
		if _, err := r.Apply(&again); err != nil || cmp.Diff(p, again) != "" {
			t.Errorf("twice is not once: %v", err)
		}
		if _, err := Marshal(EncodeProject(p)); err != nil {
			t.Error(err)
		}
	})
}
