//go:build unix

package disk

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is there twice, belongs nowhere, or is not a file is left out and told; the
// rest of the session is read.
func TestHostileStorage(t *testing.T) {
	dir := t.TempDir()
	files := storage()
	files["storage/session/other/ses_1.json"] = files["storage/session/pr/ses_1.json"]
	files["storage/message/ses_1/c.json"] = user
	files["storage/part/msg_1/prt_1b.json"] = files["storage/part/msg_1/prt_1.json"]
	files["storage/part/msg_1/prt_3c.json"] = strings.Replace(files["storage/part/msg_2/prt_3.json"], "msg_2", "msg_1", 1)
	files["storage/part/msg_1/prt_id.json"] = `{"id":"prt_../../x","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"x"}`
	files["storage/part/msg_1/prt_deep.json"] = strings.Repeat(`{"a":`, 20_000)
	files["outside.json"] = `{"id":"stolen","worktree":"/"}`
	files["storage/session/pr/ses_2.json"] = `{"id":"ses_2","slug":"s","version":"1","projectID":"../../outside","directory":"/w","title":"T","time":{"created":-5,"updated":9007199254740991}}`
	files["storage/session/pr/ses_3.json"] = `{"id":"ses_../3","slug":"s","version":"1","projectID":"pr","directory":"/w","title":"T","time":{"created":1,"updated":1}}`
	put(t, dir, files)
	pipe := filepath.Join(dir, "storage/part/msg_1/prt_pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "storage/part/msg_1/prt_zero.json")); err != nil {
		t.Fatal(err)
	}
	var got []*Record
	problems := ""
	for _, r := range readAll(t, dir) {
		problems += strings.Join(r.Problems, "\n") + "\n"
		r.Problems = nil
		if r.Session.ID == "ses_2" {
			if r.Project.ID != "" {
				t.Errorf("a file outside was read as the project %+v", r.Project)
			}
		} else if r.Session.ID != "" {
			got = append(got, r)
		}
	}
	w := want()
	w.Problems = nil
	if diff := cmp.Diff([]*Record{w}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"message msg_1 is there twice", "part prt_1 is there twice", "part prt_3 is there twice", `"prt_../../x"`, "prt_deep.json", "prt_pipe.json", "prt_zero.json", `"../../outside"`, `"ses_../3"`,
	} {
		if !strings.Contains(problems, want) {
			t.Errorf("nothing tells of %s in:\n%s", want, problems)
		}
	}
}

// Whatever the files hold, reading ends without a panic and what is read can be read
// again from the same bytes.
func FuzzRead(f *testing.F) {
	files := storage()
	f.Add(files["storage/session/pr/ses_1.json"], user, files["storage/part/msg_1/prt_1.json"], files["storage/todo/ses_1.json"])
	f.Add(`{"id":"ses_1","projectID":"/"}`, assistant, `{"id":"prt_1","messageID":"msg_2","type":"tool","state":{"status":"completed"}}`, `[null]`)
	f.Fuzz(func(t *testing.T, sess, message, part, todo string) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"storage/session/pr/ses_1.json": sess, "storage/message/ses_1/a.json": message, "storage/message/ses_1/b.json": message,
			"storage/part/msg_1/a.json": part, "storage/part/msg_2/b.json": part, "storage/todo/ses_1.json": todo,
		})
		first, again := readAll(t, dir), readAll(t, dir)
		if diff := cmp.Diff(first, again, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
		for _, r := range first {
			if _, err := Hash(r.Messages); err != nil {
				t.Error(err)
			}
		}
	})
}
