package store

import (
	"context"
	"time"
)

// Login is that of a web page: with the server's own password, with a token, or through an
// issuer. Of its cookie only the hash is kept.
type Login struct {
	ID     string // names it for people; it is no secret
	Person string // "": it was the server's own password
	// Token is the hash of the token that was shown, without which the login counts no more;
	// nil: none was.
	Token []byte
	// Proof is what only somebody with the cookie and the server's password can make; nil: it
	// was not the password.
	Proof   []byte
	Role    string // what an issuer says of the person; "": nothing
	Created time.Time
	Expires time.Time
	Used    time.Time // about; zero: never
}

// MostLogins is how many logins of one person count. The oldest gives way.
const MostLogins = 256

// Logins keep the logins of pages, for all servers of a store.
type Logins interface {
	// AddLogin stores a login by the hash of its cookie. What it says about when it was made
	// and used does not count.
	AddLogin(ctx context.Context, l Login, hash []byte) error
	// Login returns the one whose cookie has this hash. The error is [ErrNotFound] if there is
	// none that counts.
	Login(ctx context.Context, hash []byte) (Login, error)
	// Logins returns those of a person that count, the newest first; of all if it is "".
	Logins(ctx context.Context, person string) ([]Login, error)
	// EndLogin ends one, named by its ID. The error is [ErrNotFound] for one that is not there.
	EndLogin(ctx context.Context, id string) error
}
