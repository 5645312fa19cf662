package window

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/compact"
	"lathe/internal/instance"
	"lathe/internal/store"
	"lathe/internal/tokens"
)

const statsDoc store.Document[api.WindowStats] = "context"

// Options say whose window a [Window] is. All fields are required.
type Options struct {
	Session  lathe.SessionID
	Instance *instance.Instance
	Store    *store.Store
	Now      func() time.Time
	Log      *slog.Logger
}

// Window is what is known about one session's window: the system prompt that is
// frozen in it, the corrections of token estimates, and the account of the
// provider's cache. It is safe for concurrent use.
type Window struct {
	id    lathe.SessionID
	inst  *instance.Instance
	store *store.Store
	now   func() time.Time
	log   *slog.Logger

	fmu       sync.Mutex // guards what is frozen, which may have to be fetched
	frozen    *frozen
	keptOffer string  // the stored offer of the tool servers
	keptTold  string  // the stored offer that the model was last told about
	left      *frozen // what this process's newest compaction replaced

	mu     sync.Mutex
	loaded bool
	stats  api.WindowStats
	known  map[lathe.ModelRef]*tokens.Correction
	prints []compact.Print
	sent   *sentRequest
}

// New returns the window of a session. It costs nothing until it is used.
func New(o Options) *Window {
	return &Window{id: o.Session, inst: o.Instance, store: o.Store, now: o.Now, log: o.Log, known: map[lathe.ModelRef]*tokens.Correction{}}
}

// Load reads what earlier processes stored about the window; once is enough.
func (w *Window) Load(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded {
		return
	}
	stats, err := LoadStats(ctx, w.store, w.id)
	if err != nil {
		w.log.Warn("what is known of the session's window could not be read; it is counted anew", "session", w.id, "err", err)
	}
	w.stats, w.loaded = stats, true
}

// LoadStats reads what is stored about a session's window.
func LoadStats(ctx context.Context, kept *store.Store, id lathe.SessionID) (api.WindowStats, error) {
	stats, _, err := statsDoc.Get(ctx, kept, id)
	return stats, err
}

// Correction returns how the token estimate of a model is corrected.
func (w *Window) Correction(ref lathe.ModelRef) *tokens.Correction {
	ref.Variant = ""
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.known[ref]
	if k == nil {
		k = tokens.NewCorrection(w.stats.Factors[ref.String()])
		w.known[ref] = k
	}
	return k
}

// Save stores the record within a transaction.
func (w *Window) Save(tx store.Tx) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ref, k := range w.known {
		if f := k.Factor(); f != 1 {
			if w.stats.Factors == nil {
				w.stats.Factors = map[string]float64{}
			}
			w.stats.Factors[ref.String()] = f
		}
	}
	return statsDoc.Set(tx, w.id, w.stats)
}

// Pruned counts a prune, which breaks the prefix of requests deliberately.
func (w *Window) Pruned(freed int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Prunes++
	w.stats.Pruned += freed
	w.announced()
}

// Broken notes that the next request breaks the prefix deliberately.
func (w *Window) Broken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.announced()
}
