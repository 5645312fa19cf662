package sqlite

import (
	"context"
	"fmt"

	"lathe"
)

// HasPart reports whether a part has the identifier, in whatever session.
func (s messages) HasPart(ctx context.Context, id lathe.PartID) (has bool, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.row(`SELECT EXISTS (SELECT 1 FROM part WHERE id = ?)`, id).Scan(&has)
	})
	if err != nil {
		return false, fmt.Errorf("look for part %s: %w", id, err)
	}
	return has, nil
}
