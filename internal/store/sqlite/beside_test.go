package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// What other sessions did beside an answer is what they began after it, what goes
// on, and what ended after it began; not what is older, copied, elsewhere, or of
// the session's own family.
func TestBeside(t *testing.T) {
	ctx := t.Context()
	s := open(t, t.TempDir())
	add := func(ses lathe.SessionID, id string, began, ended int) {
		t.Helper()
		at := func(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }
		m := assistant(ses, id, lathe.Assistant{})
		m.Created = at(began)
		if ended > 0 {
			m.Info = &lathe.Assistant{Completed: at(ended), Error: &lathe.UnknownFailure{Message: strings.Repeat("why ", len(id)%2*10_000)}}
		}
		patch := lathe.Part{ID: lathe.PartID("prt_" + id), Body: &lathe.Patch{Hash: "h", Files: []string{"/work/" + id}}}
		m.Parts = []lathe.Part{text("prt_t"+id, "words"), patch}
		must(t, s.AddMessage(ctx, m))
	}
	create := func(id, parent, project, dir string) lathe.SessionID {
		ses := aSession(id)
		ses.ParentID, ses.ProjectID, ses.Directory = lathe.SessionID(parent), project, dir
		must(t, s.CreateSession(ctx, ses))
		return ses.ID
	}
	root := create("ses_root", "", "p1", "/work")
	own := create("ses_own", "ses_root", "p1", "/work")
	child := create("ses_child", "ses_own", "p1", "/work")
	sibling := create("ses_sibling", "ses_root", "p1", "/work")
	b := create("ses_b", "", "p1", "/work/sub")
	c := create("ses_c", "", "p1", "/work")
	d := create("ses_d", "", "p1", "/work")
	other := create("ses_other", "", "p2", "/work")

	if _, err := s.Beside(ctx, own); err == nil {
		t.Error("a session without an answer has one")
	}
	add(own, "old", 1, 2)
	add(b, "before", 1, 9)
	add(b, "across", 5, 15)
	add(c, "over", 2, 10)
	add(c, "longago", 2, 10)
	add(d, "open", 3, 0)
	must(t, s.AddMessage(ctx, userMessage(own, "msg_u", text("prt_u", "go"))))
	add(own, "mine", 10, 0)
	add(root, "root", 11, 0)
	add(child, "child", 12, 13)
	add(sibling, "sibling", 12, 13)
	add(other, "elsewhere", 12, 13)
	add(c, "after", 12, 13)
	add(c, "copied", 2, 9)
	must(t, s.AddMessage(ctx, userMessage(own, "msg_s", text("prt_s", "steer"))))

	got, err := s.Beside(ctx, own)
	must(t, err)
	var seen []string
	for _, o := range got.Others {
		if len(o.Parts) != 1 || o.Parts[0].Body.(*lathe.Patch).Hash != "h" {
			t.Errorf("%s has the parts %v", o.ID, o.Parts)
		}
		seen = append(seen, fmt.Sprintf("%s %s %s", o.SessionID, o.ID, o.Directory))
	}
	want := []string{"ses_c after /work", "ses_d open /work", "ses_b across /work/sub"}
	if diff := cmp.Diff(want, seen); diff != "" || got.Answer.ID != "mine" || got.More {
		t.Errorf("beside %s, more %v (-want +got):\n%s", got.Answer.ID, got.More, diff)
	}

	must(t, s.batch(ctx, func(tx *tx) (err error) {
		for i := range maxBeside {
			m := assistant(b, fmt.Sprint("many", i), lathe.Assistant{})
			m.Created = epoch.Add(20 * time.Second)
			err = errors.Join(err, tx.AddMessage(m))
		}
		return err
	}))
	got, err = s.Beside(ctx, own)
	must(t, err)
	if len(got.Others) != maxBeside || !got.More {
		t.Errorf("%d others, more %v", len(got.Others), got.More)
	}
}
