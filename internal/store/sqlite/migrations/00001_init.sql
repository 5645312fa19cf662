-- +goose Up
CREATE TABLE project (
	id       TEXT PRIMARY KEY,
	worktree TEXT NOT NULL,
	vcs      TEXT NOT NULL,
	created  INTEGER NOT NULL,
	updated  INTEGER NOT NULL
) WITHOUT ROWID;

-- project and parent are plain columns, not foreign keys: a session stays
-- visible when its project was never stored or its parent is gone.
CREATE TABLE session (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT NOT NULL UNIQUE,
	project   TEXT NOT NULL,
	parent    TEXT NOT NULL,
	directory TEXT NOT NULL,
	title     TEXT NOT NULL,
	created   INTEGER NOT NULL,
	updated   INTEGER NOT NULL,
	archived  INTEGER NOT NULL,
	messages  INTEGER NOT NULL DEFAULT 0, -- last sequence number given out
	data      BLOB NOT NULL,
	blobs     TEXT
);
CREATE INDEX session_project ON session (project, created);
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
CREATE INDEX session_blobs ON session (n) WHERE blobs IS NOT NULL;

CREATE TABLE message (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT NOT NULL,
	session INTEGER NOT NULL REFERENCES session (n) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	role    TEXT NOT NULL,
	created INTEGER NOT NULL,
	open    INTEGER NOT NULL,             -- an assistant that is not completed
	summary INTEGER NOT NULL,             -- output of a compaction
	parts   INTEGER NOT NULL DEFAULT 0,   -- last sequence number given out
	data    BLOB NOT NULL,
	blobs   TEXT,
	UNIQUE (session, seq),
	UNIQUE (id, session)
);
CREATE INDEX message_open ON message (session) WHERE open = 1;
CREATE INDEX message_summary ON message (session, seq) WHERE summary = 1;
CREATE INDEX message_blobs ON message (n) WHERE blobs IS NOT NULL;

CREATE TABLE part (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT NOT NULL UNIQUE,
	message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	open    INTEGER NOT NULL,
	rev     INTEGER NOT NULL,             -- counts the writes; names the text file
	size    INTEGER NOT NULL,             -- bytes of text in data
	data    BLOB NOT NULL,
	blobs   TEXT,
	UNIQUE (message, seq)
);
CREATE INDEX part_open ON part (message) WHERE open = 1;
CREATE INDEX part_blobs ON part (n) WHERE blobs IS NOT NULL;

-- Where the live tail of a session starts. A row goes with the message that
-- made it, so that undoing a compaction brings the older boundary back.
CREATE TABLE boundary (
	message INTEGER PRIMARY KEY REFERENCES message (n) ON DELETE CASCADE,
	session INTEGER NOT NULL REFERENCES session (n) ON DELETE CASCADE,
	seq     INTEGER NOT NULL
);
CREATE INDEX boundary_session ON boundary (session, message);

CREATE TABLE todo (
	session INTEGER PRIMARY KEY REFERENCES session (n) ON DELETE CASCADE,
	data    BLOB NOT NULL
);

-- Small documents that other packages keep with a session.
CREATE TABLE session_value (
	session INTEGER NOT NULL REFERENCES session (n) ON DELETE CASCADE,
	key     TEXT NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (session, key)
);

-- message is '' for what the whole session changed.
CREATE TABLE session_diff (
	session INTEGER NOT NULL REFERENCES session (n) ON DELETE CASCADE,
	message TEXT NOT NULL,
	data    BLOB NOT NULL,
	blobs   TEXT,
	PRIMARY KEY (session, message)
);
CREATE INDEX session_diff_blobs ON session_diff (session) WHERE blobs IS NOT NULL;

CREATE TABLE approval (
	n          INTEGER PRIMARY KEY AUTOINCREMENT,
	project    TEXT NOT NULL,
	permission TEXT NOT NULL,
	pattern    TEXT NOT NULL,
	action     TEXT NOT NULL,
	created    INTEGER NOT NULL,
	UNIQUE (project, permission, pattern)
);

CREATE TABLE lease (
	session INTEGER PRIMARY KEY REFERENCES session (n) ON DELETE CASCADE,
	token   TEXT NOT NULL,
	pid     INTEGER NOT NULL,
	start   TEXT NOT NULL,
	boot    TEXT NOT NULL,
	host    TEXT NOT NULL,
	taken   INTEGER NOT NULL
);

-- Full-text index over parts; rows are parts. It holds no text, and is brought
-- up to date by those who search, so that a turn never pays for it.
CREATE VIRTUAL TABLE search USING fts5 (body, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');

-- Messages whose parts are in the index.
CREATE TABLE search_done (
	message INTEGER PRIMARY KEY REFERENCES message (n) ON DELETE CASCADE
);

-- +goose StatementBegin
CREATE TRIGGER search_gone AFTER DELETE ON part BEGIN
	DELETE FROM search WHERE rowid = old.n;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER search_stale AFTER UPDATE OF data ON part WHEN old.open = 0 BEGIN
	DELETE FROM search WHERE rowid = old.n;
	DELETE FROM search_done WHERE message = old.message;
END;
-- +goose StatementEnd

PRAGMA user_version = 1;

-- +goose Down
SELECT 1;
