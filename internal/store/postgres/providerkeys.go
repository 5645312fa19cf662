package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lathe/internal/store"
)

// providerKeys is a [store.ProviderKeys].
type providerKeys struct{ *core }

// PutProviderKey implements [store.ProviderKeys].
func (k providerKeys) PutProviderKey(ctx context.Context, in store.ProviderKey) error {
	return k.again(ctx, func(tx *tx) error {
		return tx.change(`INSERT INTO provider_key (person, provider, secret, sealed, hint) SELECT name, $2, $3, $4, $5 FROM person WHERE name = $1 FOR SHARE
			ON CONFLICT (person, provider) DO UPDATE SET secret = excluded.secret, sealed = excluded.sealed, hint = excluded.hint, changed = clock_timestamp()`,
			clean(in.Person), clean(in.Provider), in.Secret, in.Sealed, clean(in.Hint))
	})
}

// ResealProviderKey implements [store.ProviderKeys].
func (k providerKeys) ResealProviderKey(ctx context.Context, old, sealed store.ProviderKey) error {
	return k.again(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE provider_key SET secret = $4, sealed = $5 WHERE person = $1 AND provider = $2 AND sealed = $3`,
			clean(old.Person), clean(old.Provider), old.Sealed, sealed.Secret, sealed.Sealed)
		return err
	})
}

// RemoveProviderKey implements [store.ProviderKeys].
func (k providerKeys) RemoveProviderKey(ctx context.Context, person, provider string) error {
	return k.again(ctx, func(tx *tx) error {
		return tx.change(`DELETE FROM provider_key WHERE person = $1 AND provider = $2`, clean(person), clean(provider))
	})
}

// ProviderKeys implements [store.ProviderKeys].
func (k providerKeys) ProviderKeys(ctx context.Context, person string) (all []store.ProviderKey, err error) {
	err = k.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var one store.ProviderKey
			err := row.Scan(&one.Person, &one.Provider, &one.Secret, &one.Sealed, &one.Hint, &one.Changed)
			all = append(all, one)
			return err
		}, `SELECT person, provider, secret, sealed, hint, changed FROM provider_key WHERE $1 = '' OR person = $1 ORDER BY person, provider`, clean(person))
	})
	if err != nil {
		return nil, fmt.Errorf("read the provider keys: %w", err)
	}
	return all, nil
}
