package postgres

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Who stores a body shares a lock with the others that do, until its transaction ends;
// who removes bodies has it alone. So a body that was found to be stored already is not
// removed before the row that needs it is there.
const (
	lockShared = `SELECT pg_advisory_xact_lock_shared(hashtext(current_schema() || '.blob'))`
	lockAlone  = `SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.blob'))`
)

// saveBlobs stores the bodies that are kept outside a document and returns the column
// that refers to them.
func (tx *tx) saveBlobs(blobs map[string]string) ([]string, error) {
	if len(blobs) == 0 {
		return nil, nil
	}
	if _, err := tx.exec(lockShared); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(blobs))
	for _, hash := range names {
		var there bool
		err := tx.row(`SELECT EXISTS (SELECT 1 FROM blob WHERE hash = $1)`, hash).Scan(&there)
		if err == nil && !there {
			_, err = tx.exec(`INSERT INTO blob (hash, data) VALUES ($1, $2) ON CONFLICT DO NOTHING`, hash, zip(blobs[hash]))
		}
		if err != nil {
			return nil, fmt.Errorf("store body %s: %w", hash, err)
		}
	}
	return names, nil
}

func zip(body string) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
	_, _ = io.WriteString(z, body)                  // writing to a buffer cannot fail
	_ = z.Close()
	return b.Bytes()
}

// inflate is unzip for a body whose size is not known.
func inflate(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, codec.MaxBody))
}

func unzip(data []byte, ref codec.Ref) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(io.LimitReader(z, ref.Size+1))
	if err == nil && int64(len(out)) != ref.Size {
		err = fmt.Errorf("%d bytes where %d were stored", len(out), ref.Size)
	}
	return string(out), err
}

// bodies are texts kept outside the documents that refer to them: compressed, by hash.
type bodies map[string][]byte

// bodies reads the bodies that documents refer to.
func (v *view) bodies(docs []document) (bodies, error) {
	var want []string
	for i := range docs {
		want = append(want, docs[i].blobs...)
	}
	if len(want) == 0 {
		return nil, nil
	}
	if v.once {
		return nil, errMore
	}
	found := bodies{}
	return found, v.rows(func(row pgx.Row) error {
		var hash string
		var data []byte
		err := row.Scan(&hash, &data)
		found[hash] = data
		return err
	}, `SELECT hash, data FROM blob WHERE hash = ANY($1)`, want)
}

// decoder returns a decoder that finds bodies here, and puts a note in place of what cannot be read.
func (b bodies) decoder() codec.Decoder {
	return codec.Decoder{Damage: &codec.Damage{}, Load: func(ref codec.Ref) (string, error) {
		if err := ref.Check(); err != nil {
			return "", err
		}
		data, ok := b[ref.Hash]
		if !ok {
			return "", fmt.Errorf("body %s is missing", ref.Hash)
		}
		text, err := unzip(data, ref)
		if err != nil {
			return "", fmt.Errorf("read body %s: %w", ref.Hash, err)
		}
		return text, nil
	}}
}

// unused is the condition that nothing refers to a blob b.
const unused = `NOT EXISTS (SELECT 1 FROM session WHERE blobs @> ARRAY[b.hash::text]) AND NOT EXISTS (SELECT 1 FROM message WHERE blobs @> ARRAY[b.hash::text])
	AND NOT EXISTS (SELECT 1 FROM part WHERE blobs @> ARRAY[b.hash::text]) AND NOT EXISTS (SELECT 1 FROM session_diff WHERE blobs @> ARRAY[b.hash::text])`

// reclaim removes those of the bodies that nothing refers to any more; nil means all.
func (c *core) reclaim(ctx context.Context, hashes []string) (out store.Swept, err error) {
	err = c.attempt(ctx, func(tx *tx) error {
		if _, err := tx.exec(lockAlone); err != nil {
			return err
		}
		which, args := "", []any{}
		if hashes != nil {
			which, args = "b.hash = ANY($1) AND ", []any{hashes}
		}
		return tx.swept(&out, `DELETE FROM blob b WHERE `+which+unused+` RETURNING octet_length(b.data)`, args...)
	})
	return out, err
}

// swept counts what a statement removed, which returns its size.
func (tx *tx) swept(out *store.Swept, query string, args ...any) error {
	return tx.rows(func(row pgx.Row) error {
		var size int64
		err := row.Scan(&size)
		out.Files, out.Bytes = out.Files+1, out.Bytes+size
		return err
	}, query, args...)
}

// upkeep is a [store.Upkeep].
type upkeep struct{ *core }

// Sweep implements [store.Upkeep]. It also forgets servers that are gone for long.
func (u upkeep) Sweep(ctx context.Context) (out store.Swept, err error) {
	if out, err = u.reclaim(ctx, nil); err != nil {
		return out, err
	}
	err = u.attempt(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM owner WHERE expires < clock_timestamp() - interval '1 day'`); err != nil {
			return err
		}
		if _, err := tx.exec(`DELETE FROM mail WHERE at < clock_timestamp() - interval '1 day'`); err != nil {
			return err
		}
		if _, err := tx.exec(forgetEvents); err != nil {
			return err
		}
		return tx.swept(&out, `DELETE FROM piece t WHERE NOT EXISTS (SELECT 1 FROM part p
			WHERE p.message = ANY (ARRAY(SELECT message FROM unclosed)) AND p.n = t.part AND p.rev = t.rev AND p.open) RETURNING octet_length(t.data)`)
	})
	return out, err
}
