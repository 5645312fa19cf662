-- +goose Up
-- Messages that the index has to look at, in place of those it has: what a
-- search pays to find out what is new does not grow with the history.
CREATE TABLE search_todo (
	message INTEGER PRIMARY KEY REFERENCES message (n) ON DELETE CASCADE
);
INSERT INTO search_todo (message)
	SELECT m.n FROM message m LEFT JOIN search_done d ON d.message = m.n WHERE d.message IS NULL;
DROP TRIGGER search_stale;
DROP TABLE search_done;

-- +goose StatementBegin
CREATE TRIGGER search_new AFTER INSERT ON message BEGIN
	INSERT INTO search_todo (message) VALUES (new.n);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER search_stale AFTER UPDATE OF data ON part WHEN old.open = 0 BEGIN
	DELETE FROM search WHERE rowid = old.n;
	INSERT OR IGNORE INTO search_todo (message) VALUES (old.message);
END;
-- +goose StatementEnd

PRAGMA user_version = 2;

-- +goose Down
SELECT 1;
