package store

import (
	"context"
	"time"

	"lathe"
)

// Allowance is something that a person allowed from then on, on all servers that share the store.
type Allowance struct {
	Rule   lathe.Rule
	Person string // who did; "" if people have no names
	Given  time.Time
	Until  time.Time // zero: it holds until it is taken back
}

// Place is where something is allowed: in all directories of an owner of approvals, which is a
// project, or in one of them.
type Place struct{ Owner, Directory string }

// Allowances remembers what people allowed, for servers that share the store. What holds for
// good is what [ProjectReader.Approvals] returns, too.
type Allowances interface {
	// Allowed returns what is allowed in a directory, the oldest first.
	Allowed(ctx context.Context, at Place) ([]Allowance, error)
	// Allow remembers rules, in place of what was allowed with the same rules there: for a time
	// in the directory, or, if that is 0, for good in all directories of the owner.
	Allow(ctx context.Context, at Place, rules []lathe.Rule, person string, lasts time.Duration) error
	// Disallow forgets a rule, in the directory and in all of the owner. It is no error if it is
	// not remembered.
	Disallow(ctx context.Context, at Place, r lathe.Rule) error
}
