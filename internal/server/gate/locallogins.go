package gate

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lathe/internal/jsonfile"
	"lathe/internal/store"
)

// LocalLogins keep the logins of pages where no database does: in a file, so that they outlast
// the server, or in memory where there is none or it cannot be written. They know no people.
type LocalLogins struct {
	Path string // of the file; "": in memory alone
	Now  func() time.Time
	Log  *slog.Logger

	mu     sync.Mutex
	memory []localLogin
}

// localLogin is a login with the server's password.
type localLogin struct {
	Hash    string `json:"hash"`
	ID      string `json:"id"`
	Proof   string `json:"proof"`
	Created int64  `json:"created"` // as Expires, in Unix seconds
	Expires int64  `json:"expires"`
}

type localDoc struct {
	jsonfile.Header
	Logins []localLogin `json:"logins"`
}

func (l *LocalLogins) file() jsonfile.File {
	return jsonfile.File{Path: l.Path, Most: 1 << 20, What: "logins of pages", Lost: "remove the file; pages then log in again", Full: "remove the file; pages then log in again"}
}

// AddLogin implements [store.Logins] but for people.
func (l *LocalLogins) AddLogin(ctx context.Context, in store.Login, hash []byte) error {
	now := l.Now()
	one := localLogin{Hash: hex.EncodeToString(hash), ID: in.ID, Proof: hex.EncodeToString(in.Proof), Created: now.Unix(), Expires: in.Expires.Unix()}
	add := func(all []localLogin) []localLogin {
		all = append(slices.DeleteFunc(all, func(old localLogin) bool { return old.Expires <= now.Unix() }), one)
		return all[max(0, len(all)-store.MostLogins):]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Path == "" || !l.update(ctx, add) {
		l.memory = add(l.memory)
	}
	return nil
}

// update changes what is in the file, and reports whether it could.
func (l *LocalLogins) update(ctx context.Context, change func(all []localLogin) []localLogin) bool {
	var doc localDoc
	err := l.file().Update(ctx, &doc, func() { doc.Logins = change(doc.Logins) })
	if err != nil {
		l.Log.Warn("a login of a page is kept until the server stops", "err", err)
	}
	return err == nil
}

// all returns the logins, the oldest first.
func (l *LocalLogins) all() []localLogin {
	var doc localDoc
	if l.Path != "" {
		if err := l.file().Read(&doc); err != nil {
			l.Log.Warn("logins of pages cannot be read", "err", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(doc.Logins, l.memory...)
}

// Login implements [store.Logins].
func (l *LocalLogins) Login(_ context.Context, hash []byte) (store.Login, error) {
	name := hex.EncodeToString(hash)
	for _, in := range l.all() {
		if in.Hash == name && l.Now().Unix() < in.Expires {
			return in.login(), nil
		}
	}
	return store.Login{}, store.ErrNotFound
}

func (in localLogin) login() store.Login {
	proof, _ := hex.DecodeString(in.Proof) // one that was tampered with proves nothing
	return store.Login{ID: in.ID, Proof: proof, Created: time.Unix(in.Created, 0), Expires: time.Unix(in.Expires, 0)}
}

// EndLogin implements [store.Logins].
func (l *LocalLogins) EndLogin(ctx context.Context, id string) error {
	known := slices.ContainsFunc(l.all(), func(in localLogin) bool { return in.ID == id })
	if !known {
		return store.ErrNotFound
	}
	end := func(all []localLogin) []localLogin {
		return slices.DeleteFunc(all, func(in localLogin) bool { return in.ID == id })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory = end(l.memory)
	if l.Path != "" && !l.update(ctx, end) {
		return errNotEnded
	}
	return nil
}

var errNotEnded = errors.New("the login is not ended: its file cannot be changed")
