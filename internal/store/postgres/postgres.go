// Package postgres keeps sessions in PostgreSQL, 13 or newer, for several servers at
// once. It needs a database that it may make tables in, and no extension. No type of
// the driver leaves it.
//
// What package sqlite keeps in files is in tables here: bodies too long for a row, and
// the text of open parts, as pieces that the row takes over when the part closes.
//
// A write is one transaction. Transactions of several servers run at the same time, so
// what is read to be changed is locked; numbers of messages and parts are counted in
// the row that they belong to. If the connection is lost while a transaction commits,
// the database is asked what became of it, so nothing is reported as failed that is
// stored.
//
// Who holds the lease of a session remembers the numbers that it gave out last, and its row;
// statements fail that find something else. So most of what a turn writes is one message to
// the database for each transaction.
//
// A server that holds leases says in a row of its own that it lives; by the clock of
// the database, so that clocks of servers do not matter. Each lease has a number that
// grows when it changes hands, and a transaction of a server that believes to hold a
// session is refused when the number has changed ([store.ErrLost]).
//
// Statements are ordinary ones in transactions, and locks end with theirs: a pooler
// in transaction mode may be in between when the address says
// default_query_exec_mode=exec.
package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Options configure [Open].
type Options struct {
	URL  string           // postgres://user:password@host/database, with pgx's parameters
	Log  *slog.Logger     // nil: discarded
	Now  func() time.Time // nil: time.Now
	Name string           // of this server, for people; "": its process and host
	// Life is how long this server counts as living after it was last heard of; 0: 10 s.
	Life time.Duration
	// Wait is how long a call waits for a database that cannot be reached; 0: 10 s.
	Wait time.Duration
	// Patience is how long a database may be away before a call with [store.Patient] fails, too; 0: 5 min.
	Patience time.Duration
	// Fault is called before each write is committed; an error it returns fails the
	// write as the database would. For tests; may be nil.
	Fault func() error
	// Dial opens connections in place of the network's own way. For tests; may be nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	filling bool // by a move, which may be unfinished
}

const (
	defaultLife = 10 * time.Second
	defaultWait = 10 * time.Second
	// defaultPatience is more than a managed database needs to fail over.
	defaultPatience = 5 * time.Minute
	// conns is how many connections a server opens at most, unless the address says
	// otherwise (pool_max_conns).
	conns = 8
	// maxWork bounds a transaction on a connection that does not answer any more.
	maxWork = time.Minute
	// idleInTx is how long the database waits for the next statement of a transaction.
	idleInTx = 5 * time.Second
)

// DB is an open database: the parts of its [DB.Store]. It is safe for concurrent use.
type DB struct{ *core }

// core is what the parts of a database share.
type core struct {
	pool   *pgxpool.Pool
	where  string // for people, without the password
	number string // query that a transaction which writes begins with
	log    *slog.Logger
	now    func() time.Time
	wait   time.Duration
	most   time.Duration // that a patient call waits
	fault  func() error
	packer codec.Packer

	trouble atomic.Pointer[error] // see health
	utf8    atomic.Bool           // any text can be told, not only ASCII
	heart   heart
	absence absence
	shown   progress
	journal journal
	commits atomic.Int64 // that had events
	answers waiting
	woken   chan struct{} // there may be work to take
	closed  sync.Once
}

// Open connects to the database, making or migrating its tables as needed. The tables
// of a newer lathe are refused and left alone. It waits no longer than o.Wait for a
// database that does not answer.
func Open(ctx context.Context, o Options) (*DB, error) {
	c := &core{log: o.Log, now: o.Now, wait: o.Wait, most: o.Patience, fault: o.Fault, woken: make(chan struct{}, 1)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.wait == 0 {
		c.wait = defaultWait
	}
	if c.most == 0 {
		c.most = defaultPatience
	}
	if o.Life == 0 {
		o.Life = defaultLife
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("process %d on %s", os.Getpid(), host)
	}
	c.journal.open = map[lathe.PartID]growing{}
	c.heart = heart{db: c, self: store.Owner{ID: rand.Text(), Name: clean(o.Name)}, life: o.Life, held: map[lathe.SessionID]*lease{}}
	c.absence.life = o.Life
	if err := c.connect(ctx, o); err != nil {
		return nil, err
	}
	err := c.upgrade(ctx)
	if err == nil && !o.filling {
		err = c.served(ctx)
	}
	if err != nil {
		c.pool.Close()
		return nil, c.explain(err)
	}
	return &DB{c}, nil
}

// Self returns this server as an owner of leases.
func (d *DB) Self() store.Owner { return d.heart.self }

// Where names the database for people, without a password.
func (d *DB) Where() string { return d.where }

// Close gives up what leases are left and closes the connections. It may be called
// twice.
func (d *DB) Close() error {
	d.closed.Do(func() {
		d.heart.stop()
		d.pool.Close()
	})
	return nil
}

// Store returns the database as a store. It is closed with the database.
func (d *DB) Store() *store.Store {
	c := d.core
	return &store.Store{
		SessionReader: sessions{c}, MessageReader: messages{c}, ProjectReader: projects{c}, Writer: writer{c}, Streams: streams{c},
		Leases: leases{c}, Health: health{c}, Searcher: searcher{c}, Stats: stats{c}, Upkeep: upkeep{c},
		Journal: follower{c}, Mail: mail{c}, Queue: queue{c}, Crew: crew{c},
		People: people{c}, Belongings: belongings{c}, Audit: audit{c}, AuditUpkeep: audit{c}, Keys: providerKeys{c}, Logins: logins{c},
		Allowances: allowances{c},
	}
}
