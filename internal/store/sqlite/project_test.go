package sqlite

import (
	"testing"

	"lathe"
	"lathe/internal/store/codec"
)

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
