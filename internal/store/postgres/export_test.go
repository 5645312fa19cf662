package postgres

import (
	"context"
	"time"
)

// Silence ends what tells the database that the server lives, as a crash would.
func (d *DB) Silence() { d.heart.silence() }

// Forget has the server count as one that was not heard of for too long, until it beats.
func (d *DB) Forget(ctx context.Context) error {
	d.heart.mu.Lock()
	d.heart.beaten = time.Time{}
	d.heart.mu.Unlock()
	_, err := d.pool.Exec(ctx, `UPDATE owner SET expires = clock_timestamp() - interval '1 minute' WHERE id = $1`, d.heart.self.ID)
	return err
}

// Schema is the newest version of the tables.
const Schema = schema

// Oldest is the schema of the oldest programs that work on them.
const Oldest = oldest

// BoundIdle is how long the database waits for what comes next in a transaction.
func (d *DB) BoundIdle(idle time.Duration) {
	d.number = beginning(d.pool.Config().ConnConfig, idle)
}

// Absent has the server find that it could not reach the database for some time.
func (d *DB) Absent(since time.Duration) {
	d.absence.mu.Lock()
	defer d.absence.mu.Unlock()
	d.absence.seen = time.Now().Add(-since)
}

// Back ends what others are excused for.
func (d *DB) Back() {
	d.absence.mu.Lock()
	defer d.absence.mu.Unlock()
	d.absence.until = time.Time{}
}

// Dialer opens the connections to a database.
var Dialer = dialer
