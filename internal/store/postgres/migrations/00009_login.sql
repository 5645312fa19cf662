-- +goose Up
-- Web pages that logged in, by the hash of their cookie. One that is over stays for a while.
CREATE TABLE login (
	hash    BYTEA PRIMARY KEY,
	id      TEXT COLLATE "C" NOT NULL,
	person  TEXT COLLATE "C" NOT NULL,
	token   BYTEA,
	proof   BYTEA,
	role    TEXT NOT NULL,
	created TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
	expires TIMESTAMPTZ NOT NULL,
	used    TIMESTAMPTZ,
	ended   TIMESTAMPTZ
);
CREATE INDEX login_person ON login (person, created);
CREATE INDEX login_id ON login (id);
