package postgres

// Silence ends what tells the database that the server lives, as a crash would.
func (d *DB) Silence() { d.heart.silence() }

// Schema is the newest version of the tables.
const Schema = schema

// Oldest is the schema of the oldest programs that work on them.
const Oldest = oldest
