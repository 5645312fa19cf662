-- +goose Up
-- Rows that take less room. Servers that run lock the tables in this order.
LOCK TABLE message, part IN ACCESS EXCLUSIVE MODE;

-- Messages that are open or have an open part, and maybe some that were. An index over a
-- flag that changes has every update of its row write all other indexes of the table again;
-- this table takes the place of two, and triggers keep it, for programs that do not know it too.
CREATE TABLE unclosed (
	session BIGINT NOT NULL,
	message BIGINT NOT NULL,
	PRIMARY KEY (session, message)
);
INSERT INTO unclosed (session, message)
	SELECT session, n FROM message WHERE open
	UNION SELECT m.session, m.n FROM part p JOIN message m ON m.n = p.message WHERE p.open;

DROP INDEX message_open;
DROP INDEX part_open;

-- Messages are stored in the order of their time, more or less, so that the times between
-- which those of a range of pages are say enough.
DROP INDEX message_created;
CREATE INDEX message_made ON message USING brin (created);

-- A message has few parts: they are sorted when they are read, and their numbers are counted
-- in its row. In an index over the message alone they share an entry.
CREATE INDEX part_message ON part (message);
ALTER TABLE part DROP CONSTRAINT part_message_seq_key;

-- In a new database columns stand so that nothing is left free between them. In one that is in
-- use they stay, since every row would have to be written again.
DO $$ BEGIN
	IF EXISTS (SELECT FROM message) THEN
		RETURN;
	END IF;
	ALTER TABLE message
		ALTER COLUMN parts TYPE INTEGER,
		DROP COLUMN open, DROP COLUMN summary, DROP COLUMN role, DROP COLUMN id, DROP COLUMN data, DROP COLUMN blobs;
	ALTER TABLE message
		ADD COLUMN open BOOLEAN NOT NULL,
		ADD COLUMN summary BOOLEAN NOT NULL,
		ADD COLUMN role TEXT NOT NULL,
		ADD COLUMN id TEXT COLLATE "C" NOT NULL,
		ADD COLUMN data BYTEA NOT NULL,
		ADD COLUMN blobs TEXT[],
		ADD UNIQUE (id, session);
	CREATE INDEX message_summary ON message (session, seq) WHERE summary;
	CREATE INDEX message_blobs ON message USING gin (blobs) WHERE blobs IS NOT NULL;
	ALTER TABLE part
		ALTER COLUMN seq TYPE INTEGER, ALTER COLUMN rev TYPE INTEGER, ALTER COLUMN size TYPE INTEGER,
		DROP COLUMN open, DROP COLUMN kind, DROP COLUMN id, DROP COLUMN data, DROP COLUMN blobs;
	ALTER TABLE part
		ADD COLUMN open BOOLEAN NOT NULL,
		ADD COLUMN kind TEXT NOT NULL,
		ADD COLUMN id TEXT COLLATE "C" NOT NULL UNIQUE,
		ADD COLUMN data BYTEA NOT NULL,
		ADD COLUMN blobs TEXT[];
	CREATE INDEX part_blobs ON part USING gin (blobs) WHERE blobs IS NOT NULL;
END $$;

CREATE FUNCTION message_opened() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	INSERT INTO unclosed (session, message) VALUES (new.session, new.n) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE TRIGGER message_added AFTER INSERT ON message FOR EACH ROW WHEN (new.open) EXECUTE FUNCTION message_opened();
CREATE TRIGGER message_opened AFTER UPDATE OF open ON message FOR EACH ROW WHEN (new.open AND NOT old.open) EXECUTE FUNCTION message_opened();

CREATE FUNCTION message_closed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	DELETE FROM unclosed WHERE session = new.session AND message = new.n AND NOT EXISTS (SELECT FROM part WHERE message = new.n AND open);
	RETURN NULL;
END $$;
CREATE TRIGGER message_closed AFTER UPDATE OF open ON message FOR EACH ROW WHEN (old.open AND NOT new.open) EXECUTE FUNCTION message_closed();

CREATE FUNCTION message_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	DELETE FROM unclosed WHERE session = old.session AND message = old.n;
	RETURN NULL;
END $$;
CREATE TRIGGER message_removed AFTER DELETE ON message FOR EACH ROW EXECUTE FUNCTION message_removed();

-- Who adds a part holds its message; who opens one again waits for whoever closes the message, or is waited for.
CREATE FUNCTION part_opened() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	IF tg_op = 'UPDATE' THEN
		PERFORM FROM message WHERE n = new.message FOR SHARE;
	END IF;
	INSERT INTO unclosed (session, message) SELECT session, n FROM message WHERE n = new.message ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE TRIGGER part_added AFTER INSERT ON part FOR EACH ROW WHEN (new.open) EXECUTE FUNCTION part_opened();
CREATE TRIGGER part_opened AFTER UPDATE OF open ON part FOR EACH ROW WHEN (new.open AND NOT old.open) EXECUTE FUNCTION part_opened();
