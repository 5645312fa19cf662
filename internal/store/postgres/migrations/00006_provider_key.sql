-- +goose Up
-- What people have for providers of models, sealed with a secret that the database never sees.
CREATE TABLE provider_key (
	person   TEXT COLLATE "C" NOT NULL REFERENCES person (name) ON DELETE CASCADE,
	provider TEXT COLLATE "C" NOT NULL,
	secret   TEXT NOT NULL,
	sealed   BYTEA NOT NULL,
	hint     TEXT NOT NULL,
	changed  TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (person, provider)
);
