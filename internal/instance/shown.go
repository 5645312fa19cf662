package instance

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/workspace"
)

// Shown returns messages for people elsewhere to read. It leaves out what calls
// printed from files that may not be read without an ask, even if the ask was
// granted.
func (s *Set) Shown(ctx context.Context, dir string, messages []lathe.Message) []lathe.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = s.shownParts(ctx, dir, out[i].Parts)
	}
	return out
}

func (s *Set) shownParts(ctx context.Context, dir string, parts []lathe.Part) []lathe.Part {
	inst, err := s.Get(ctx, dir)
	if err != nil { // the directory may be gone
		root := workspace.Root{Dir: dir, Worktree: "/", TopLevel: "/"}
		return reading.Parts(reading.New(root, permission.Policy{Rules: permission.Defaults(permission.Paths{})}, nil, nil), root, parts)
	}
	return reading.Parts(inst.Readable.Usual(), inst.Root, parts)
}
