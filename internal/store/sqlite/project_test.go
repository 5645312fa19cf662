package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// What a person set about a project outlives its being seen again, and fields
// that were never set come with an import.
func TestProjectSettings(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	seen := lathe.Project{ID: "p1", Worktree: "/w", VCS: "git", Created: epoch, Updated: epoch}
	must(t, s.PutProject(ctx, seen))
	want := seen
	want.Name, want.Icon = "名前", lathe.Icon{URL: "https://a", Override: strings.Repeat("x", 300<<10), Color: "blue"}
	want.Start, want.StartIn = "make deps", "/w"
	want.Updated = epoch.Add(time.Second)
	got, err := s.UpdateProject(ctx, "p1", func(p *lathe.Project) error { *p = want; p.ID = "other"; return nil })
	must(t, err)
	equal(t, want, got)
	seen.Created, seen.Updated, seen.Worktree = epoch.Add(time.Hour), epoch.Add(time.Hour), "/moved"
	want.Updated, want.Worktree = seen.Updated, seen.Worktree
	must(t, s.PutProject(ctx, seen))
	must(t, s.Close())
	s = open(t, dir)
	got, err = s.Project(ctx, "p1")
	must(t, err)
	equal(t, want, got)

	no := errors.New("no")
	if _, err := s.UpdateProject(ctx, "p1", func(p *lathe.Project) error { p.Name = "lost"; return no }); !errors.Is(err, no) {
		t.Errorf("a refused change: %v", err)
	}
	if _, err := s.UpdateProject(ctx, "p2", func(*lathe.Project) error { return nil }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown project: %v", err)
	}
	got, err = s.Project(ctx, "p1")
	must(t, err)
	equal(t, want, got)

	must(t, s.PutProject(ctx, lathe.Project{ID: "p3", Worktree: "/x", Created: epoch, Updated: epoch}))
	must(t, s.PutProject(ctx, lathe.Project{ID: "p3", Worktree: "/x", Created: epoch, Updated: epoch, Name: "imported"}))
	got, err = s.Project(ctx, "p3")
	must(t, err)
	if got.Name != "imported" {
		t.Errorf("the name that came with an import is %q", got.Name)
	}
}

// Projects of older schemas have no settings yet, and can be given some.
func TestMigrateProjects(t *testing.T) {
	for _, version := range []int64{1, 2} {
		ctx := t.Context()
		s := open(t, oldStore(t, version, 2))
		whole(t, s)
		all, err := s.Projects(ctx)
		must(t, err)
		want := lathe.Project{ID: "p", Worktree: "/d", VCS: "git", Created: codec.At(1), Updated: codec.At(2)}
		equal(t, []lathe.Project{want}, all)
		want.Name = "named"
		got, err := s.UpdateProject(ctx, "p", func(p *lathe.Project) error { p.Name = "named"; return nil })
		must(t, err)
		equal(t, want, got)
	}
}
