package catalog

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"lathe"
)

// DefaultURL is where the catalogue is fetched from.
const DefaultURL = "https://models.dev"

// Limits of a refresh.
const (
	maxFetch     = 64 << 20
	fetchTimeout = 10 * time.Second
	freshFor     = 5 * time.Minute
)

// Options say where catalogues are.
type Options struct {
	CacheDir string       // where the fetched copy is kept; empty: nowhere
	URL      string       // of the service, without "/api.json"; empty: DefaultURL
	Path     string       // a file in models.dev's format that replaces all others
	NoFetch  bool         // never go online
	Client   *http.Client // nil: one of its own
	Now      func() time.Time
}

// Open returns the catalogue: the file at Path, else the fetched copy, else the
// embedded one. It does not go online. A broken cached copy is skipped and
// removed; a broken file at Path is an error.
func Open(o Options) (*Catalog, error) {
	if o.Path != "" {
		return openPath(o.Path)
	}
	if o.CacheDir == "" {
		return Embedded(), nil
	}
	data, err := readFile(o.cacheFile(), maxStored)
	if err != nil {
		return Embedded(), nil
	}
	c, err := Decode(data)
	if err != nil || len(c.infos) == 0 {
		_ = os.Remove(o.cacheFile())
		return Embedded(), nil
	}
	c.behind = Embedded()
	return c, nil
}

func openPath(path string) (*Catalog, error) {
	data, err := readFile(path, maxFetch)
	if err != nil {
		return nil, fmt.Errorf("read the model catalogue: %w", err)
	}
	list, err := Parse(data)
	if err != nil {
		return nil, &lathe.Error{Code: lathe.CodeInvalid, Msg: fmt.Sprintf("model catalogue %q cannot be used", path),
			Hint: "OPENCODE_MODELS_PATH or LATHE_MODELS_PATH names it; unset it to use the built-in catalogue", Cause: err}
	}
	return New(list), nil
}

func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, err
}

func (o Options) url() string {
	if o.URL == "" {
		return DefaultURL
	}
	return strings.TrimRight(o.URL, "/")
}

// cacheFile returns the fetched copy's path; each address has its own.
func (o Options) cacheFile() string {
	name := "models.bin"
	if o.url() != DefaultURL {
		h := fnv.New64a()
		_, _ = h.Write([]byte(o.url()))
		name = fmt.Sprintf("models-%016x.bin", h.Sum64())
	}
	return filepath.Join(o.CacheDir, name)
}

// Refresh fetches the catalogue, checks it and puts it in the cache for the
// next Open. It does nothing when fetching is off, when the cached copy is
// younger than five minutes (unless force is set), or while another process
// fetches. It reports whether there is a new copy. Callers run it during a
// start, never before it.
func Refresh(ctx context.Context, o Options, force bool) (bool, error) {
	if o.NoFetch || o.Path != "" || o.CacheDir == "" {
		return false, nil
	}
	if !force && o.fresh() {
		return false, nil
	}
	if err := os.MkdirAll(o.CacheDir, 0o700); err != nil {
		return false, fmt.Errorf("refresh the model catalogue: %w", err)
	}
	l := flock.New(o.cacheFile()+".lock", flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		return false, err
	}
	defer l.Close()
	if !force && o.fresh() { // another process was faster
		return false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, errors.New("no complete answer within 10 s"))
	defer cancel()
	data, err := o.fetch(ctx)
	if err == nil {
		err = o.store(data)
	}
	if err != nil {
		return false, fmt.Errorf("refresh the model catalogue from %s: %w", o.url(), err)
	}
	return true, nil
}

func (o Options) fresh() bool {
	info, err := os.Stat(o.cacheFile())
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	if err != nil {
		return false
	}
	age := now().Sub(info.ModTime())
	return age >= 0 && age < freshFor
}

func (o Options) fetch(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url()+"/api.json", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "lathe/"+lathe.Version)
	req.Header.Set("Accept", "application/json")
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP %d", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxFetch+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFetch {
		return nil, errors.New("the answer is larger than 64 MiB")
	}
	return data, nil
}

func (o Options) store(data []byte) error {
	list, err := Parse(data)
	if err != nil {
		return err
	}
	packed, err := Encode(list)
	if err != nil {
		return err
	}
	if _, err := Decode(packed); err != nil {
		return err
	}
	f, err := os.CreateTemp(o.CacheDir, ".models-*")
	if err != nil {
		return err
	}
	_, err = f.Write(packed)
	if err = errors.Join(err, f.Close()); err == nil {
		if o.Now != nil {
			err = os.Chtimes(f.Name(), o.Now(), o.Now())
		}
		err = errors.Join(err, os.Rename(f.Name(), o.cacheFile()))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
