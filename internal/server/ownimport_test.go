package server

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

func TestImport(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Trusted = true })
	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	take := func(path string) (ids []lathe.SessionID, last api.ImportNews, err error) {
		for n, err := range c.Import(t.Context(), api.Import{Path: path}) {
			if err != nil {
				return ids, n, err
			}
			if last = n; n.Session != nil {
				ids = append(ids, n.Session.ID)
			}
		}
		return ids, last, nil
	}
	dir := filepath.Join(filepath.Dir(r.dir), "oc")
	for _, id := range []string{"ses_a", "ses_b"} {
		write(t, filepath.Join(dir, "storage/session/global", id+".json"),
			`{"id":"`+id+`","slug":"s","version":"1.1.34","projectID":"global","directory":"/tmp","title":"A","time":{"created":1000,"updated":4000}}`)
	}
	ids, last, err := take(dir)
	if err != nil || len(ids) != 2 || last.Sum == nil || last.Sum.Outcomes[api.ImportAdded] != 2 {
		t.Errorf("%v, %+v, %v", ids, last.Sum, err)
	}
	if _, _, err := take(filepath.Join(dir, "none")); lathe.CodeOf(err) != lathe.CodeNotFound || !strings.Contains(err.Error(), "none") {
		t.Errorf("a path that is not there: %v", err)
	}
	if res := newRig(t).do("POST", "/lathe/import", `{"path":"/tmp"}`); res.status != 403 {
		t.Errorf("over the network without a password: %d %s", res.status, res.body)
	}
}
