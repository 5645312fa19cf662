package gate

import (
	"net/http"
	"strings"

	"lathe/internal/people"
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

// Token returns the hash of the valid token with which a request comes: a bearer's, one in
// the place of the password, or that of the login of a page. There is none if it came with
// the server's own password.
func (g *Gate) Token(r *http.Request) (hash []byte, ok bool) {
	if g.known == nil {
		return nil, false
	}
	if c, err := r.Cookie(loginCookie); err == nil && g.ownPage(r) {
		if hash, ok := g.logins.token(c.Value); ok {
			return hash, hash != nil
		}
	}
	return g.token(r)
}

func (g *Gate) token(r *http.Request) (hash []byte, ok bool) {
	token := bearer(r)
	if given, basic := credentials(r); token == "" && basic {
		_, token, _ = strings.Cut(given, ":") // clients send a user of their own choice
	}
	return g.valid(r, token)
}

// valid returns the hash of a token that is valid.
func (g *Gate) valid(r *http.Request, token string) (hash []byte, ok bool) {
	if g.known == nil || token == "" {
		return nil, false
	}
	if !people.IsToken(token) {
		if g.issued == nil {
			return nil, false
		}
		return g.issued(r.Context(), token)
	}
	hash = people.Hash(token)
	return hash, g.known(r.Context(), hash)
}
