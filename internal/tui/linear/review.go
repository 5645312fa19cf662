package linear

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/api"
	"lathe/internal/diff"
	"lathe/internal/printable"
	"lathe/internal/say"
)

const (
	reviewFiles = 30  // files that are offered
	reviewLines = 200 // changed lines that are printed of one
)

// review lists the files that the session changed, the newest first, to look at one.
func (t *talk) review() {
	r := t.Engine.Can().Review
	if r == nil || t.session.ID == "" {
		t.say("This session changed no files.")
		return
	}
	list, err := r.Review(t.ctx, t.session.ID)
	if t.fail(err) {
		return
	}
	var out []choice
	for i := range list {
		p := list[len(list)-1-i]
		for _, f := range p.Files {
			out = append(out, choice{t.changed(p, f), func() { t.look(p, f) }})
		}
	}
	switch over := len(out) - reviewFiles; {
	case len(out) == 0:
		t.say("This session changed no files.")
		return
	case over > 0:
		t.say("The newest %d of %d files:", reviewFiles, len(out))
		out = out[:reviewFiles]
	}
	t.menu.offer(out)
}

// changed says in a line what became of a file, and by which prompt.
func (t *talk) changed(p api.Reviewed, f api.ReviewedFile) string {
	words := []string{f.File, t.in(f.Status), t.in(say.Plural(f.Additions, "line")) + " " + t.in("added"), t.in(say.Plural(f.Deletions, "line")) + " " + t.in("removed")}
	switch other := p.Renames()[f.File]; {
	case other != "" && f.Status == "added":
		words = []string{f.File, t.in(fmt.Sprintf("renamed from %s", other))}
	case other != "":
		words = []string{f.File, t.in(fmt.Sprintf("renamed to %s", other))}
	}
	by := printable.Line(p.Text)
	if r := []rune(by); len(r) > 60 {
		by = string(r[:60])
	}
	if p.Taken {
		by = t.in("taken back by you")
	}
	return strings.Join(append(words, by), ", ")
}

// look prints a change of a file, then asks what is to be done with it.
func (t *talk) look(p api.Reviewed, f api.ReviewedFile) {
	t.say("File: %s", printable.Line(f.File))
	if f.Readable() {
		t.change(diff.Unified(f.File, f.File, f.Before, f.After, 0), reviewLines)
	} else {
		t.say("Its text is not known: it is binary, very large, or only its permission bits changed.")
	}
	list := []choice{{"stage the file for a commit", func() { t.stage(p, f) }}, {"back to the list", t.review}, {"done", func() {}}}
	if !p.Taken {
		list = append([]choice{{"take this change back", func() { t.takeBack(p, f, true) }}}, list...)
	}
	t.menu.offer(list)
}

// becomes says what taking back makes of a file.
func becomes(out api.Reverted, path string, dry bool) string {
	switch {
	case !dry:
		return "Taken back: %s"
	case slices.Contains(out.Deleted, path):
		return "This would be deleted: %s"
	case slices.Contains(out.Created, path):
		return "This would be restored: %s"
	case slices.Contains(out.Emptied, path):
		return "This would stay as an empty file: %s"
	}
	return "This would be changed: %s"
}

// takeBack says what taking a change back would do and asks, or does it.
func (t *talk) takeBack(p api.Reviewed, f api.ReviewedFile, dry bool) {
	out, err := t.Engine.Can().Review.TakeBack(t.ctx, t.session.ID, api.TakeBack{Message: p.Message, File: f.File, DryRun: dry})
	if t.fail(err) {
		return
	}
	for _, path := range out.Changed {
		t.say(becomes(out, path, dry), printable.Line(path))
	}
	for _, k := range out.Kept {
		t.say("Kept as it is: %s, %s", printable.Line(k.Path), t.in(printable.Line(k.Reason)))
	}
	if out.Unrecorded != "" {
		t.say("This cannot be undone: %s", t.in(printable.Line(out.Unrecorded)))
	}
	switch {
	case len(out.Changed) == 0:
		t.say("No file would be changed.")
	case dry:
		t.menu.offer([]choice{{"leave it", func() { t.say("Nothing is changed.") }}, {"take it back", func() { t.takeBack(p, f, false) }}})
	}
}

// stage puts a file into git's index as it is now.
func (t *talk) stage(p api.Reviewed, f api.ReviewedFile) {
	if _, err := t.Engine.Can().Review.Stage(t.ctx, t.session.ID, api.Stage{Message: p.Message, Files: []string{f.File}}); !t.fail(err) {
		t.say("Staged as it is now: %s", printable.Line(f.File))
	}
}
