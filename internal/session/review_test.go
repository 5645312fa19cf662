package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// patcher plays a model that replaces a word: "swap FILE old new".
func patcher(req *llm.Request) say {
	words := strings.Fields(last(req))
	switch {
	case len(words) == 4 && words[0] == "swap":
		return say{calls: []use{{"edit", args{"filePath": words[1], "oldString": words[2], "newString": words[3]}}}}
	case len(words) > 1 && words[0] == "run":
		return say{calls: []use{{"bash", args{"command": strings.Join(words[1:], " "), "description": "x"}}}}
	}
	return say{text: "done"}
}

// told describes what was reviewed: prompt, files and counts.
func told(list []api.Reviewed) (out []string) {
	for _, r := range list {
		line := r.Text
		if r.Taken {
			line = "(taken back)"
		}
		for _, f := range r.Files {
			line += " " + f.File + " " + f.Status
		}
		added, removed := r.Counts()
		out = append(out, line+strings.Repeat("+", added)+strings.Repeat("-", removed))
	}
	return out
}

// TestReview holds that the changes of a session are told by prompt, with the effects of
// commands; that one hunk, file or prompt can be taken back without what came after it; that
// what was changed again is kept and told; and that all of it can be undone as ever.
func TestReview(t *testing.T) {
	text := strings.Join(strings.Fields("alpha b c d e f g h i j k l m n omega"), "\n") + "\n"
	p := newPlay(t, map[string]string{"repo/a.txt": text}, patcher).open()
	id := p.session()
	file := filepath.Join(p.dir, "a.txt")
	now := func() string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	review := func() []api.Reviewed {
		t.Helper()
		list, err := p.svc.Undo.Review(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	p.prompt(id, session.Prompt{}, "swap a.txt alpha first")
	p.prompt(id, session.Prompt{}, "run sed -i -e s/omega/last/ -e s/^b$/second/ a.txt; echo new > new.txt; echo text > emptied.txt")
	p.prompt(id, session.Prompt{}, "hello")
	list := review()
	if diff := cmp.Diff([]string{
		"swap a.txt alpha first a.txt modified+-",
		"run sed -i -e s/omega/last/ -e s/^b$/second/ a.txt; echo new > new.txt; echo text > emptied.txt a.txt modified emptied.txt added new.txt added++++--",
		"hello",
	}, told(list)); diff != "" {
		t.Fatalf("reviewed (-want +got):\n%s", diff)
	}
	if files, err := p.svc.Undo.Between(t.Context(), id, list[0].Message, list[1].Message); err != nil || len(files) != 1 || files[0].Additions != 1 {
		t.Errorf("between the first two prompts: %+v, %v", files, err)
	}

	if files, err := p.svc.Undo.Between(t.Context(), id, list[0].Message, api.Now); err != nil || len(files) != 3 {
		t.Errorf("from the first prompt until now: %+v, %v", files, err)
	}

	second := list[1].Message
	take := func(in api.TakeBack) (undo.Result, error) { return p.svc.Undo.TakeBack(t.Context(), id, in) }
	before := now()
	out, err := take(api.TakeBack{Message: second, File: "a.txt", Hunk: 2, DryRun: true})
	if err != nil || now() != before || len(out.Files) != 1 {
		t.Errorf("a dry run: %+v, %v\n%s", out, err, now())
	}
	if out, err = take(api.TakeBack{Message: second, File: "a.txt", Hunk: 2}); err != nil || now() != strings.Replace(before, "last", "omega", 1) {
		t.Errorf("a hunk: %+v, %v\n%s", out, err, now())
	}
	if out, err = take(api.TakeBack{Message: list[0].Message}); err != nil || now() != strings.Replace(text, "b\n", "second\n", 1) {
		t.Errorf("the first prompt: %+v, %v\n%s", out, err, now())
	}
	gone := []string{filepath.Join(p.dir, "new.txt")}
	if out, err = take(api.TakeBack{Message: second, File: "new.txt", DryRun: true}); err != nil || !exists(gone[0]) || !slices.Equal(out.Deleted, gone) {
		t.Errorf("a dry run on an added file: %+v, %v", out, err)
	}
	if out, err = take(api.TakeBack{Message: second, File: "new.txt", Hunk: 1, DryRun: true}); err != nil || !slices.Equal(out.Emptied, gone) || !slices.Equal(out.Files, gone) {
		t.Errorf("a dry run on the hunk of an added file: %+v, %v", out, err)
	}
	if out, err = take(api.TakeBack{Message: second, File: "emptied.txt", Hunk: 1}); err != nil || !exists(filepath.Join(p.dir, "emptied.txt")) {
		t.Errorf("the text of an added file: %+v, %v", out, err)
	}
	gone[0] = filepath.Join(p.dir, "emptied.txt")
	if out, err = take(api.TakeBack{Message: second, File: "emptied.txt"}); err != nil || !slices.Equal(out.Deleted, gone) || exists(gone[0]) {
		t.Errorf("an added file whose text is back already: %+v, %v", out, err)
	}
	gone[0] = filepath.Join(p.dir, "new.txt")
	if out, err = take(api.TakeBack{Message: second, File: "a.txt", Hunk: 2}); err != nil || len(out.Conflicts) != 1 || out.Conflicts[0].Reason != "this is already as it was before" {
		t.Errorf("a hunk that is back already: %+v, %v", out, err)
	}
	if out, err = take(api.TakeBack{Message: second, File: "new.txt"}); err != nil || !slices.Equal(out.Deleted, gone) || exists(filepath.Join(p.dir, "new.txt")) {
		t.Errorf("an added file: %+v, %v", out, err)
	}
	if out, err = take(api.TakeBack{Message: second, File: "new.txt"}); err != nil || len(out.Conflicts) != 1 || out.Conflicts[0].Reason != "this is already as it was before" {
		t.Errorf("an added file that is gone already: %+v, %v", out, err)
	}
	if diff := cmp.Diff([]string{
		"swap a.txt alpha first a.txt modified+-",
		"run sed -i -e s/omega/last/ -e s/^b$/second/ a.txt; echo new > new.txt; echo text > emptied.txt a.txt modified emptied.txt added new.txt added++++--",
		"hello", "(taken back) a.txt modified+-", "(taken back) a.txt modified+-", "(taken back) emptied.txt modified-", "(taken back) emptied.txt deleted", "(taken back) new.txt deleted-",
	}, told(review())); diff != "" {
		t.Errorf("after that (-want +got):\n%s", diff)
	}

	p.serve() // the model is told by the process that comes next, too
	p.prompt(id, session.Prompt{}, "hello again")
	p.prompt(id, session.Prompt{}, "swap a.txt second zwei")
	var notes []string
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if text, ok := part.Body.(*lathe.Text); ok && text.Synthetic && strings.Contains(text.Text, "took these back") {
				notes = append(notes, text.Text)
			}
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "- a.txt (one of the changes in it)\n- a.txt\n- emptied.txt (one of the changes in it)\n- emptied.txt\n- new.txt\n") {
		t.Errorf("the model is told %q", notes)
	}
	if out, err = take(api.TakeBack{Message: second, File: "a.txt", Hunk: 1}); err != nil || len(out.Conflicts) != 1 || len(out.Files) != 0 || !strings.Contains(now(), "zwei") {
		t.Errorf("what was changed again: %+v, %v\n%s", out, err, now())
	}
	if _, err := take(api.TakeBack{Message: second, File: "none"}); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("a file that was not changed: %v", err)
	}

	first := undo.Input{MessageID: list[0].Message}
	if out, err = p.svc.Undo.Preview(t.Context(), id, first); err != nil || len(out.Conflicts) != 0 || len(out.Files) == 0 || !strings.Contains(now(), "zwei") {
		t.Errorf("what a revert would do: %+v, %v", out, err)
	}
	ours := now()
	if err := os.WriteFile(file, []byte(ours+"mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err = p.svc.Undo.Preview(t.Context(), id, first); err != nil || len(out.Conflicts) != 1 || out.Conflicts[0].Path != file {
		t.Errorf("what a revert would keep: %+v, %v", out, err)
	}
	if err := os.WriteFile(file, []byte(ours), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err = p.svc.Undo.Revert(t.Context(), id, first); err != nil || now() != text || len(out.Conflicts) != 0 {
		t.Errorf("undoing all of it: %+v, %v\n%s", out, err, now())
	}
	if _, err := take(api.TakeBack{Message: second}); lathe.CodeOf(err) == "" {
		t.Errorf("taking back in a session that is undone: %v", err)
	}
}

// TestTakeBackStaysInTheProject holds that a link that replaced a file is not followed.
func TestTakeBackStaysInTheProject(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/a.txt": "alpha\n" + strings.Repeat("x\n", 20) + "omega\n", "outside": "theirs\n"}, patcher).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "run sed -i -e s/alpha/first/ -e s/omega/last/ a.txt")
	list, err := p.svc.Undo.Review(t.Context(), id)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	outside := filepath.Join(filepath.Dir(p.dir), "outside")
	raw, err := os.ReadFile(filepath.Join(p.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(p.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	for _, hunk := range []int{0, 1} {
		out, err := p.svc.Undo.TakeBack(t.Context(), id, api.TakeBack{Message: list[0].Message, File: "a.txt", Hunk: hunk})
		if kept, _ := os.ReadFile(outside); string(kept) != string(raw) {
			t.Errorf("hunk %d: a file outside was changed: %+v, %v", hunk, out, err)
		}
	}
}
