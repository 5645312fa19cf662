package importer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/enginetest"
)

// kept is what OpenCode 1.1 stored: two sessions, of which one has a message that cannot
// be read.
var kept = map[string]string{
	"storage/session/global/ses_a.json": `{"id":"ses_a","slug":"s","version":"1.1.34","projectID":"global","directory":"/tmp","title":"A","time":{"created":1000,"updated":4000}}`,
	"storage/message/ses_a/msg_a.json":  `{"id":"msg_a","sessionID":"ses_a","role":"user","time":{"created":1000},"agent":"build","model":{"providerID":"p","modelID":"m"}}`,
	"storage/part/msg_a/prt_a.json":     `{"id":"prt_a","sessionID":"ses_a","messageID":"msg_a","type":"text","text":"from elsewhere"}`,
	"storage/session/global/ses_b.json": `{"id":"ses_b","slug":"s","version":"1.1.34","projectID":"global","directory":"/tmp","title":"B","time":{"created":1000,"updated":4000}}`,
	"storage/message/ses_b/msg_b.json":  `{"id":"msg_b","sessio`,
}

const export = `{"info":{"id":"ses_x","slug":"s","version":"1.1.34","projectID":"global","directory":"/elsewhere","title":"X","time":{"created":1000,"updated":4000}},
"messages":[{"info":{"id":"msg_x","sessionID":"ses_x","role":"user","time":{"created":1000},"agent":"build","model":{"providerID":"p","modelID":"m"}},
"parts":[{"id":"prt_x","sessionID":"ses_x","messageID":"msg_x","type":"text","text":"TEXT"}]}]}`

type rig struct {
	Importer
	t     *testing.T
	dir   string
	fault atomic.Pointer[error]
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	home := t.TempDir()
	e, err := enginetest.Open(t.Context(), enginetest.Options{
		Env: map[string]string{"HOME": home, "LATHE_HOME": filepath.Join(home, "lathe")},
		Fault: func() error {
			if err := r.fault.Load(); err != nil {
				return *err
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for name, text := range kept {
		r.write(filepath.Join("oc", name), text)
	}
	r.Importer = Importer{Service: e.Service, OpenCode: filepath.Join(r.dir, "oc")}
	return r
}

func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// run returns what an import told.
func (r *rig) run(in api.Import) (out []api.ImportNews, err error) {
	r.t.Helper()
	err = r.Run(r.t.Context(), r.dir, in, func(n api.ImportNews) error {
		out = append(out, n)
		return nil
	})
	return out, err
}

func (r *rig) sum(in api.Import) api.ImportSum {
	r.t.Helper()
	out, err := r.run(in)
	if err != nil || len(out) == 0 || out[len(out)-1].Sum == nil {
		r.t.Fatalf("%+v, %v", out, err)
	}
	return *out[len(out)-1].Sum
}

func TestAll(t *testing.T) {
	r := newRig(t)
	read := api.ImportSum{Sessions: 2, Messages: 1, Parts: 1, Problems: 1, Outcomes: map[string]int{api.ImportRead: 2}}
	if diff := cmp.Diff(read, r.sum(api.Import{DryRun: true})); diff != "" {
		t.Errorf("only looked at (-want +got):\n%s", diff)
	}
	if list, err := r.Service.Messages(t.Context(), "ses_a", 0); err != nil || len(list) > 0 {
		t.Errorf("a look stored %d messages, %v", len(list), err)
	}
	got, err := r.run(api.Import{Path: r.OpenCode})
	if err != nil {
		t.Fatal(err)
	}
	added := read
	added.Outcomes = map[string]int{api.ImportAdded: 2}
	want := []api.ImportNews{
		{Session: &api.ImportedSession{ID: "ses_a", Outcome: api.ImportAdded, Messages: 1, Parts: 1}},
		{LeftOut: "…"},
		{Session: &api.ImportedSession{ID: "ses_b", Outcome: api.ImportAdded}},
		{Sum: &added},
	}
	for i, n := range got {
		if n.LeftOut != "" && strings.Contains(n.LeftOut, "msg_b") {
			got[i].LeftOut = "…"
		}
		if s := n.Session; s != nil && (s.Read == "" || s.Read != s.Stored) {
			t.Errorf("%s was read as %q and is stored as %q", s.ID, s.Read, s.Stored)
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(api.ImportedSession{}, "Read", "Stored")); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if got := r.sum(api.Import{}).Outcomes; !cmp.Equal(got, map[string]int{api.ImportSame: 2}) {
		t.Errorf("again: %v", got)
	}
}

// TestFile takes in an exported session: again as it is, changed, and as it went on.
func TestFile(t *testing.T) {
	r := newRig(t)
	path := r.write("x.json", export)
	take := func() api.ImportedSession {
		t.Helper()
		out, err := r.run(api.Import{Path: path})
		if err != nil || len(out) != 2 || out[0].Session == nil || out[1].Sum == nil || !out[1].Sum.Export {
			t.Fatalf("%+v, %v", out, err)
		}
		return *out[0].Session
	}
	for _, want := range []string{api.ImportAdded, api.ImportSame} {
		if one := take(); one.ID != "ses_x" || one.Outcome != want || one.Messages != 1 || one.Parts != 1 {
			t.Errorf("want %s: %+v", want, one)
		}
	}
	sess, err := r.Service.Update(t.Context(), "ses_x", func(s *lathe.Session) error { s.Updated = s.Updated.AddDate(1, 0, 0); return nil })
	if err != nil || sess.Directory != r.dir {
		t.Fatalf("it is in %s, %v", sess.Directory, err)
	}
	r.write("x.json", strings.Replace(export, "TEXT", "OTHER", 1))
	if one := take(); one.ID == "ses_x" || one.Outcome != api.ImportAdded {
		t.Errorf("beside one that went on here: %+v", one)
	}
}

func TestRefusedPaths(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct {
		in   api.Import
		code lathe.Code
	}{
		"relative":           {api.Import{Path: "oc"}, lathe.CodeInvalid},
		"not there":          {api.Import{Path: filepath.Join(r.dir, "none")}, lathe.CodeNotFound},
		"no export":          {api.Import{Path: r.write("page.html", "<html>")}, lathe.CodeInvalid},
		"a look at a file":   {api.Import{Path: r.write("x.json", export), DryRun: true}, lathe.CodeInvalid},
		"a report of a file": {api.Import{Path: r.write("x.json", export), Store: true}, lathe.CodeInvalid},
	} {
		if out, err := r.run(tt.in); lathe.CodeOf(err) != tt.code || len(out) > 0 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// TestEndedImport holds that a disk that is full, a reader that is gone and a cancelled
// context end an import with their error.
func TestEndedImport(t *testing.T) {
	r := newRig(t)
	gone := errors.New("gone")
	if err := r.Run(t.Context(), r.dir, api.Import{}, func(api.ImportNews) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("nobody listens: %v", err)
	}
	full := error(syscall.ENOSPC)
	r.fault.Store(&full)
	if _, err := r.run(api.Import{}); lathe.CodeOf(err) != lathe.CodeFull {
		t.Errorf("a full disk: %v", err)
	}
	r.fault.Store(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx, r.dir, api.Import{}, func(api.ImportNews) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
