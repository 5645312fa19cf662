-- +goose Up
-- Who may use the servers. Without a person every server is used as it was before.
CREATE TABLE person (
	name     TEXT COLLATE "C" PRIMARY KEY,
	role     TEXT NOT NULL,
	projects TEXT[] NOT NULL,
	created  TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);

-- What they show, by the hash of it. Rows of removed people stay, revoked, for the audit.
CREATE TABLE token (
	id      TEXT COLLATE "C" PRIMARY KEY,
	hash    BYTEA NOT NULL UNIQUE,
	person  TEXT COLLATE "C" NOT NULL,
	role    TEXT NOT NULL,
	created TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
	expires TIMESTAMPTZ,
	used    TIMESTAMPTZ,
	revoked TIMESTAMPTZ
);
CREATE INDEX token_person ON token (person);

-- Whose a session is. One without a row is its project's.
CREATE TABLE claim (
	session TEXT COLLATE "C" PRIMARY KEY,
	person  TEXT COLLATE "C" NOT NULL
);

CREATE TABLE audit (
	n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
	person  TEXT NOT NULL,
	token   TEXT NOT NULL,
	origin  TEXT NOT NULL,
	what    TEXT NOT NULL,
	about   TEXT NOT NULL,
	session TEXT NOT NULL,
	refused BOOLEAN NOT NULL
);
CREATE INDEX audit_person ON audit (person, n);
CREATE INDEX audit_session ON audit (session, n) WHERE session <> '';
