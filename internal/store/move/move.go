// Package move carries everything that one store holds to another one: in small
// transactions, so that it can be ended at any point and goes on where it was, and with a
// comparison of the two at the end.
package move

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"lathe"
	"lathe/internal/store"
)

const (
	// mostRows are carried in one transaction; a document in a row has 64 KiB at most, and a
	// body any size.
	mostRows, mostBodies = 200, 1
)

// ErrDiffers means that the two stores do not hold the same.
var ErrDiffers = errors.New("the stores differ")

// Progress is how far a table is.
type Progress struct {
	Table     string
	Done, Of  int64
	Comparing bool // it has been carried, and is read again
}

// Settle closes what lathes that are gone left open in a store, so that nothing is under
// way in what is carried. The error is a [store.BusyError] if somebody works in it.
func Settle(ctx context.Context, s *store.Store, self store.Owner) error {
	ids, err := s.Unclosed(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := s.Batch(ctx, func(tx store.Tx) error {
			_, err := tx.Recover(id, self)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Run carries the tables of from to a target that has some of the rows or none, and compares
// them. If they differ, because from has changed meanwhile, the target is cleared; the
// error is [ErrDiffers]. tell is called now and then.
func Run(ctx context.Context, from store.Carrier, to store.Target, tell func(Progress)) error {
	for _, t := range store.Carried() {
		if err := carry(ctx, from, to, t, tell); err != nil {
			return fmt.Errorf("carry %s: %w", t.Name, err)
		}
	}
	for _, t := range store.Carried() {
		same, err := compare(ctx, from, to, t, tell)
		if err != nil {
			return fmt.Errorf("compare %s: %w", t.Name, err)
		}
		if !same {
			return errors.Join(lathe.Errorf(lathe.CodeBusy, "end every other lathe that uses them, then run it again from the start",
				"the sessions changed while they were carried (%s)", t.Name), ErrDiffers, to.Clear(ctx))
		}
	}
	return to.Finish(ctx)
}

func limit(t store.Table) int {
	if t.Name == store.BlobTable {
		return mostBodies
	}
	return mostRows
}

// carry carries one table from where it is in the target.
func carry(ctx context.Context, from store.Carrier, to store.Target, t store.Table, tell func(Progress)) error {
	p := Progress{Table: t.Name}
	var err error
	if p.Of, err = from.Count(ctx, t); err != nil {
		return err
	}
	after, err := last(ctx, to, t, &p.Done)
	if err != nil {
		return err
	}
	for {
		rows, err := from.Rows(ctx, t, after, limit(t))
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if err := to.Put(ctx, t, rows); err != nil {
				return err
			}
			after = t.KeyOf(rows[len(rows)-1])
			p.Done += int64(len(rows))
		}
		tell(p)
		if len(rows) < limit(t) {
			return nil
		}
	}
}

// last returns the key of the last row that the target has, and counts them.
func last(ctx context.Context, to store.Target, t store.Table, done *int64) (key []any, err error) {
	if *done, err = to.Count(ctx, t); err != nil || *done == 0 {
		return nil, err
	}
	return to.Last(ctx, t)
}

// compare reports whether a table holds the same in both.
func compare(ctx context.Context, a, b store.Carrier, t store.Table, tell func(Progress)) (bool, error) {
	p := Progress{Table: t.Name, Comparing: true}
	var err error
	if p.Of, err = a.Count(ctx, t); err != nil {
		return false, err
	}
	var afterA, afterB []any
	for {
		one, err := a.Rows(ctx, t, afterA, limit(t))
		if err != nil {
			return false, err
		}
		other, err := b.Rows(ctx, t, afterB, limit(t))
		if err != nil {
			return false, err
		}
		if len(one) != len(other) || digest(one) != digest(other) {
			return false, nil
		}
		p.Done += int64(len(one))
		tell(p)
		if len(one) < limit(t) {
			return true, nil
		}
		afterA, afterB = t.KeyOf(one[len(one)-1]), t.KeyOf(other[len(other)-1])
	}
}

// digest is the hash of rows.
func digest(rows []store.Row) [sha256.Size]byte {
	h := sha256.New()
	for _, r := range rows {
		for _, v := range r {
			add(h, v)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func add(h hash.Hash, v any) {
	piece := func(kind byte, b []byte) {
		h.Write(binary.AppendUvarint([]byte{kind}, uint64(len(b))))
		h.Write(b)
	}
	switch v := v.(type) {
	case string:
		piece('s', []byte(v))
	case int64:
		piece('n', binary.AppendVarint(nil, v))
	case bool:
		piece('b', fmt.Append(nil, v))
	case []byte:
		piece('d', v)
	case []string:
		piece('l', nil)
		for _, s := range v {
			piece('s', []byte(s))
		}
	default:
		panic(fmt.Sprintf("a %T in a row", v))
	}
}
