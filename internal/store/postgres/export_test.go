package postgres

import "time"

// Silence ends what tells the database that the server lives, as a crash would.
func (d *DB) Silence() { d.heart.silence() }

// Schema is the newest version of the tables.
const Schema = schema

// Oldest is the schema of the oldest programs that work on them.
const Oldest = oldest

// BoundIdle is how long the database waits for what comes next in a transaction.
func (d *DB) BoundIdle(idle time.Duration) {
	d.number = beginning(d.pool.Config().ConnConfig, idle)
}
