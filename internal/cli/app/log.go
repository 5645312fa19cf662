package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"lathe/internal/redact"
)

// lazyLog opens its file with the first record, so that a run without anything
// to log touches no file.
type lazyLog struct {
	dir, day string
	opts     *slog.HandlerOptions
	app      *App

	once  sync.Once
	inner slog.Handler
}

// Enabled reports whether records of a level are written.
func (l *lazyLog) Enabled(_ context.Context, level slog.Level) bool {
	return level >= l.opts.Level.Level()
}

// Handle writes one record.
func (l *lazyLog) Handle(ctx context.Context, r slog.Record) error {
	return l.open().Handle(ctx, r)
}

// WithAttrs returns a handler that adds attributes to each record.
func (l *lazyLog) WithAttrs(attrs []slog.Attr) slog.Handler { return l.open().WithAttrs(attrs) }

// WithGroup returns a handler that puts attributes under a name.
func (l *lazyLog) WithGroup(name string) slog.Handler { return l.open().WithGroup(name) }

func (l *lazyLog) open() slog.Handler {
	l.once.Do(func() {
		l.inner = slog.DiscardHandler
		if os.MkdirAll(l.dir, 0o700) != nil {
			return
		}
		f, err := openLogFile(filepath.Join(l.dir, l.day+".log"))
		if err != nil {
			return
		}
		l.app.logTo = f
		l.inner = slog.NewJSONHandler(f, l.opts)
	})
	return l.inner
}

// withoutSecrets removes anything that looks like a credential from an attribute,
// because an error may repeat what a provider, a proxy or a program said.
func withoutSecrets(_ []string, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		if redact.Secret(a.Key) {
			return slog.String(a.Key, redact.Hidden)
		}
		return slog.String(a.Key, redact.Text(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, redact.Text(err.Error()))
		}
	}
	return a
}
