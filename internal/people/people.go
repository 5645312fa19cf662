// Package people has the roles of a team's people, the tokens that they show, and whom a
// request comes from on its way through the servers.
package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Roles, from the least to the most: a reader sees sessions; an author works in those that
// are his own or belong to their project; an owner does everything.
const (
	Reader = "reader"
	Author = "author"
	Owner  = "owner"
)

var rank = map[string]int{Reader: 1, Author: 2, Owner: 3}

// IsRole reports whether there is a role of this name.
func IsRole(role string) bool { return rank[role] > 0 }

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pN._@+-]{0,63}$`) })

// IsName reports whether a person can be called so.
func IsName(name string) bool { return plainName().MatchString(name) }

// AtLeast reports whether a role may do what another may. What is no role may nothing, and
// nobody may do what needs one that there is not.
func AtLeast(role, needed string) bool {
	return IsRole(needed) && rank[role] >= rank[needed]
}

// prefix lets people, and programs that look for secrets in texts, recognise a token.
const prefix = "lathe_"

// NewToken returns a token of 256 random bits, and what to store of it. A plain hash is
// enough: nobody can try 2^256 of them, however fast a hash is.
func NewToken() (token, id string, hash []byte) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // it never fails
	token = prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:]))
	return token, "tok_" + strings.ToLower(rand.Text()[:12]), Hash(token)
}

// tokenLength is that of the prefix and of 256 bits, five to a letter.
const tokenLength = len(prefix) + 52

// IsToken reports whether a text may be a token, so that nobody looks for the others.
func IsToken(text string) bool { return len(text) == tokenLength && strings.HasPrefix(text, prefix) }

// Hash returns what is stored of a token.
func Hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// MayUse reports whether a directory is one of the projects, or below one; without
// projects every directory is.
func MayUse(projects []string, dir string) bool {
	if len(projects) == 0 {
		return true
	}
	dir = filepath.Clean(dir)
	for _, top := range projects {
		if rel, err := filepath.Rel(top, dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

type key struct{}

type narrowKey struct{}

// Narrow returns a context for a caller who is told of single directories only, wherever what
// was asked is done.
func Narrow(ctx context.Context) context.Context { return context.WithValue(ctx, narrowKey{}, true) }

// IsNarrow reports whether a context is one of [Narrow]'s.
func IsNarrow(ctx context.Context) bool { return ctx.Value(narrowKey{}) != nil }

// With returns a context for what a person asked for.
func With(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, key{}, name)
}

// From returns who asked; "" if people have no names here.
func From(ctx context.Context) string {
	name, _ := ctx.Value(key{}).(string)
	return name
}
