package session

import (
	"context"
	"fmt"

	"lathe"
)

// partIDs are the identifiers that a client chose for parts of its prompt: pages
// show a part before it is stored, and know it again by its identifier.
type partIDs map[lathe.PartBody]lathe.PartID

// expandAll expands the parts of a prompt and notes which of the results is the
// part that the client sent. What is added to it gets identifiers of our own, and
// so does a part whose identifier is taken.
func (r *runner) expandAll(ctx context.Context, m *lathe.Message, p Prompt) ([]lathe.PartBody, partIDs, error) {
	var all []lathe.PartBody
	ids, taken := partIDs{}, map[lathe.PartID]bool{"": true}
	for i, part := range p.Parts {
		bodies, err := r.expand(ctx, m, []lathe.PartBody{part})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, bodies...)
		if i >= len(p.PartIDs) || taken[p.PartIDs[i]] {
			continue
		}
		id := p.PartIDs[i]
		if err := lathe.CheckID(string(id), lathe.PrefixPart); err != nil {
			return nil, nil, lathe.Errorf(lathe.CodeInvalid, "", "part %d: %v", i, err)
		}
		taken[id] = true
		if has, err := r.s.opts.Store.HasPart(ctx, id); err != nil {
			return nil, nil, fmt.Errorf("take the prompt: %w", err)
		} else if main := sent(bodies); main != nil && !has {
			ids[main] = id
		}
	}
	return all, ids, nil
}

// sent returns the one of the results that is the part itself, not what was added.
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
