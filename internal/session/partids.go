package session

import (
	"context"
	"fmt"

	"lathe"
)

// partIDs maps parts to the identifiers that a client chose for them: pages show
// a part before it is stored, and recognise it later by its identifier.
type partIDs map[lathe.PartBody]lathe.PartID

// expandAll expands the parts of a prompt and notes which result is the part that
// the client sent. Added parts get identifiers of our own, and so does a part
// whose identifier is taken.
func (i *intake) expandAll(ctx context.Context, p Prompt) ([]lathe.PartBody, partIDs, error) {
	var all []lathe.PartBody
	ids, taken := partIDs{}, map[lathe.PartID]bool{"": true}
	for n, part := range p.Parts {
		bodies, err := i.expand(ctx, []lathe.PartBody{part})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, bodies...)
		if n >= len(p.PartIDs) || taken[p.PartIDs[n]] {
			continue
		}
		id := p.PartIDs[n]
		if err := lathe.CheckID(string(id), lathe.PrefixPart); err != nil {
			return nil, nil, lathe.Errorf(lathe.CodeInvalid, "", "part %d: %v", n, err)
		}
		taken[id] = true
		if has, err := i.store.HasPart(ctx, id); err != nil {
			return nil, nil, fmt.Errorf("take the prompt: %w", err)
		} else if main := sent(bodies); main != nil && !has {
			ids[main] = id
		}
	}
	return all, ids, nil
}

// sent returns the result that is the client's part itself, rather than an addition.
func sent(bodies []lathe.PartBody) lathe.PartBody {
	if len(bodies) == 1 {
		return bodies[0]
	}
	for _, b := range bodies {
		if t, ok := b.(*lathe.Text); !ok || !t.Synthetic {
			return b
		}
	}
	return nil
}
