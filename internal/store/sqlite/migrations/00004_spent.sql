-- +goose Up
-- What answers cost that were removed, with their session or without it: money
-- that was spent stays counted. It holds no word of them.
CREATE TABLE spent (
	message   TEXT NOT NULL,
	session   TEXT NOT NULL,
	project   TEXT NOT NULL,
	directory TEXT NOT NULL,
	created   INTEGER NOT NULL,
	data      BLOB NOT NULL, -- an assistant with its agent, model, cost and tokens alone
	PRIMARY KEY (message, session)
) WITHOUT ROWID;

PRAGMA user_version = 4;

-- +goose Down
SELECT 1;
