package instance

import (
	"fmt"
	"path/filepath"
	"slices"

	"lathe/internal/builtin"
	"lathe/internal/sandbox"
	"lathe/internal/sandbox/overlay"
	"lathe/internal/shell"
)

// holder returns what makes a [builtin.Held] for a command of the directory; nil where
// nothing is confined or there is no place for what is held.
func (c *Confinement) holder() func() (builtin.Held, error) {
	if c.Off() || c.i.Paths.Data == "" {
		return nil
	}
	return func() (builtin.Held, error) {
		if c.Level() < sandbox.Full {
			return nil, fmt.Errorf("%w: the sandbox's level is %s", sandbox.ErrOverlay, c.Level())
		}
		h, err := overlay.New(filepath.Join(c.i.Paths.Data, "held"), outermost(c.worktree()))
		if err != nil {
			return nil, err
		}
		return &heldChanges{h, c}, nil
	}
}

// heldChanges has the changes of one command of a directory.
type heldChanges struct {
	*overlay.Held
	c *Confinement
}

// Apply makes the changes, but for those of protected files that the command was not
// allowed by name.
func (h *heldChanges) Apply(list []overlay.Change, by shell.Confine, allow sandbox.Grant) ([]sandbox.Refusal, error) {
	if by == nil {
		by = h.c.confine
	}
	_, policy := by(shell.KindCommand)
	check := policy.With(allow).Guard()
	err := h.Held.Apply(list)
	return check(), err
}

// outermost resolves the directories that exist, and leaves out those inside another.
func outermost(dirs []string) (out []string) {
	var real []string
	for _, dir := range dirs {
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			real = append(real, path)
		}
	}
	slices.Sort(real)
	for _, dir := range real {
		if !slices.ContainsFunc(out, func(top string) bool { return within(top, dir) }) {
			out = append(out, dir)
		}
	}
	return out
}
