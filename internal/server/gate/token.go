package gate

import (
	"net/http"
	"strings"

	"lathe/internal/people"
	"lathe/internal/store"
)

// shows reports whether a request shows a password or a token at all.
func shows(r *http.Request) bool {
	_, password := credentials(r)
	return password || bearer(r) != ""
}

// bearer returns the token of a request that shows one as OAuth's clients do.
func bearer(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Caller is whom a request comes from that was let in.
type Caller struct {
	Own   bool         // who has the server's own password
	Token []byte       // hash of the token that was shown; nil: none was
	Login *store.Login // that of a page that came in through an issuer; nil: it did not
}

// token returns the hash of the valid token that a request shows: a bearer's, or one in the
// place of the password. The error is [store.ErrNotFound] if it shows none.
func (g *Gate) token(r *http.Request) (hash []byte, err error) {
	token := bearer(r)
	if given, basic := credentials(r); token == "" && basic {
		_, token, _ = strings.Cut(given, ":") // clients send a user of their own choice
	}
	return g.valid(r, token)
}

// valid returns the hash of a token that is valid.
func (g *Gate) valid(r *http.Request, token string) (hash []byte, err error) {
	if g.known == nil || token == "" {
		return nil, store.ErrNotFound
	}
	if !people.IsToken(token) {
		if g.issued == nil {
			return nil, store.ErrNotFound
		}
		return g.issued(r.Context(), token)
	}
	hash = people.Hash(token)
	if err := g.known(r.Context(), hash); err != nil {
		return nil, err
	}
	return hash, nil
}
