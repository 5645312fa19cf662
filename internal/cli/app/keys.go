package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/cli/console"
	"lathe/internal/keyring"
)

// newRing returns the ring with the keys of the store's people; nil for a store without people.
func newRing(a *App) *keyring.Ring {
	if a.Store.Keys == nil {
		return nil
	}
	return keyring.New(a.Store.Keys, func() (*keyring.Secrets, error) { return keySecrets(context.Background(), a.Env) }, a.Env.Now)
}

// keySecrets returns what seals people's own keys: from the environment, else from the file that
// the person's own configuration names.
func keySecrets(ctx context.Context, env *console.Env) (*keyring.Secrets, error) {
	if text := env.Getenv(console.KeysVar); text != "" {
		return keyring.ParseSecrets(console.KeysVar, text)
	}
	conf, err := OwnConfig(ctx, env)
	if err != nil {
		return nil, err
	}
	file := conf.Keys.File
	if file == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "make a secret with lathe user key secret, and set "+console.KeysVar+` or "keys": {"file": …} on each server and worker`,
			"this machine has no secret that seals people's own keys")
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(env.Getenv("HOME"), rest)
	}
	return readSecrets(file)
}

// maxSecrets bounds the file of secrets.
const maxSecrets = 64 << 10

// readSecrets reads a file that its owner alone can read.
func readSecrets(file string) (*keyring.Secrets, error) {
	fail := func(err error) error {
		return lathe.Errorf(lathe.CodeInvalid, "make it with: (umask 077; lathe user key secret > "+file+")", "keys.file: %v", err)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, fail(err)
	case !info.Mode().IsRegular():
		return nil, fail(errors.New("it is no file"))
	case !console.Private(info):
		return nil, lathe.Errorf(lathe.CodeInvalid, "keep it to yourself: chmod 600 "+file, "keys.file: others can read %s", file)
	case info.Size() > maxSecrets:
		return nil, fail(errors.New("it is too large"))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fail(err)
	}
	return keyring.ParseSecrets(file, string(text))
}
