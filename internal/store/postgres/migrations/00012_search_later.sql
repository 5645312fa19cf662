-- +goose Up
-- The messages of a session that search has to look at begin here. What is in search_todo has to be
-- looked at, too: programs that do not know this table note each message there.
CREATE TABLE search_later (
	session BIGINT PRIMARY KEY REFERENCES session (n) ON DELETE CASCADE,
	seq     BIGINT NOT NULL
);
