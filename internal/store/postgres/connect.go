package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"lathe"
	"lathe/internal/store"
)

// A machine that is gone sends no answer, nor that there will be none.
const (
	// pingTime is how long a connection that was not used for a while may take to answer.
	pingTime = 3 * time.Second
	// deafTime is after how long a connection is given up whose other side acknowledges nothing. The
	// system's own limit is a quarter of an hour.
	deafTime = 20 * time.Second
)

// dialer opens connections to the database.
func dialer() *net.Dialer {
	return &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deafTime / 2, Interval: deafTime / 10, Count: 5},
		Control:         deafAfter(deafTime),
	}
}

// connect makes the pool. Connections are opened when they are needed.
func (c *core) connect(ctx context.Context, o Options) error {
	conf, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// What pgx says repeats the address, which may hold a password.
		return lathe.Errorf(lathe.CodeInvalid, "write it as postgres://user:password@host:5432/database",
			"the address of the database cannot be read")
	}
	if !strings.Contains(o.URL, "pool_max_conns") {
		conf.MaxConns = conns
	}
	if conf.ConnConfig.ConnectTimeout == 0 {
		conf.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if conf.ConnConfig.RuntimeParams["application_name"] == "" {
		conf.ConnConfig.RuntimeParams["application_name"] = "lathe"
	}
	c.number = beginning(conf.ConnConfig, idleInTx)
	conf.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		c.utf8.Store(conn.PgConn().ParameterStatus("server_encoding") == "UTF8")
		return nil
	}
	conf.PingTimeout = pingTime
	conf.ConnConfig.DialFunc = dialer().DialContext
	if o.Dial != nil {
		conf.ConnConfig.DialFunc = o.Dial
	}
	at := conf.ConnConfig
	c.where = fmt.Sprintf("%s at %s:%d", at.Database, at.Host, at.Port)
	c.pool, err = pgxpool.NewWithConfig(ctx, conf)
	return err
}

// beginning returns the query that a transaction which writes begins with: for its number, and to
// have the database end it if its process says nothing for longer than idle. One that was
// paused, or whose machine is cut off, may hold what the others wait for. What the address says
// counts instead. It is set for the transaction alone, which every pooler lets pass.
func beginning(conf *pgx.ConnConfig, idle time.Duration) string {
	const number, name = `SELECT pg_current_xact_id()::text`, "idle_in_transaction_session_timeout"
	if _, said := conf.RuntimeParams[name]; said {
		return number
	}
	return fmt.Sprintf(`%s FROM set_config('%s', '%d', true)`, number, name, idle.Milliseconds())
}

// Waits between attempts to reach the database.
const (
	firstWait = 20 * time.Millisecond
	mostWait  = time.Second
)

// retry calls do until it succeeds, fails for another reason than that the database
// cannot be reached, or the time for that is over. A patient call has more of it.
func (c *core) retry(ctx context.Context, do func(context.Context) error) error {
	limit := time.NewTimer(c.wait)
	defer limit.Stop()
	hurry, patient := store.Patience(ctx)
	longer := false
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := do(ctx)
		if err == nil || !away(err) {
			return err
		}
		left := c.most - c.absence.silent()
		select {
		case <-time.After(wait):
		case <-limit.C:
			if longer || !patient || left <= 0 {
				return err
			}
			longer = true
			c.note(c.explain(err)) // others are told instead of waiting as long
			limit.Reset(left)
		case <-hurry:
			if longer {
				return err
			}
			hurry, patient = nil, false
		case <-ctx.Done():
			return err
		}
	}
}

// waits reports whether a call that could not begin is to be made again: it is patient, and the time
// for that is not over. That others reach the database says nothing of this call, which may be what
// ends its connection each time.
func (c *core) waits(ctx context.Context, since time.Time, err error) bool {
	_, patient := store.Patience(ctx)
	return patient && errors.Is(err, store.ErrAway) && max(c.absence.silent(), time.Since(since)) < c.most
}

// settling returns a context that bounds how long it is asked what became of a transaction.
func (c *core) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := maxWork
	if _, patient := store.Patience(ctx); patient {
		limit += c.most
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// begun is a connection with a transaction that has begun.
type begun struct{ conn *pgxpool.Conn }

// begin takes a connection and begins a transaction at once, see [pipe] for those that do
// it later. A connection that turns out to be dead is replaced.
func (c *core) begin(ctx context.Context) (b begun, err error) {
	err = c.retry(ctx, func(ctx context.Context) error {
		conn, err := c.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "BEGIN"); err != nil {
			drop(conn)
			return err
		}
		b = begun{conn: conn}
		return nil
	})
	return b, err
}

// drop closes a connection whose state is not known, and gives it back.
func drop(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Conn().Close(ctx)
	conn.Release()
}

// end gives the connection back after the transaction was ended; one that is still
// in it is closed.
func (b begun) end() {
	if b.conn.Conn().PgConn().TxStatus() != 'I' {
		drop(b.conn)
		return
	}
	b.conn.Release()
}

// rollback undoes the transaction.
func (b begun) rollback(ctx context.Context) {
	_, _ = b.conn.Conn().PgConn().Exec(ctx, "ROLLBACK").ReadAll()
	b.end()
}

// outcome asks what became of a transaction whose connection was lost while it was committed. It
// is undone if the database says so, and if it does not know the number yet: it crashed, and had not
// written down that it gave it out. That the number belongs to one that was committed says little
// after a crash, see [noted.confirm].
func (c *core) outcome(ctx context.Context, id string) error {
	return c.retry(ctx, func(ctx context.Context) error {
		var status *string
		err := c.pool.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", id).Scan(&status)
		switch {
		case state(err) == notYet:
			return store.ErrUndone
		case err != nil:
			return err
		case status == nil:
			return fmt.Errorf("nothing is known of transaction %s", id)
		case *status == "committed":
			return nil
		case *status == "in progress":
			return errUnsettled
		}
		return store.ErrUndone
	})
}

// clean makes an identifier or a name into text that PostgreSQL accepts: UTF-8 without zero bytes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
