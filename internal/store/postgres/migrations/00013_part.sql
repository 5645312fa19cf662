-- +goose Up
-- Parts are found by their identifier, or in their message. What search has indexed says which message
-- that is. Rows that programs of the version before add do not; their part is looked up by its number.
LOCK TABLE message, part, piece, search IN ACCESS EXCLUSIVE MODE;
ALTER TABLE search ADD COLUMN message BIGINT;

-- In a new database no index has the numbers of parts. One that is in use keeps it, since programs of
-- the version before find parts by number each time that they write one. If they come to a new one,
-- they have an index there that takes no room, and says less.
DO $$ BEGIN
	IF EXISTS (SELECT FROM message) THEN
		RETURN;
	END IF;
	ALTER TABLE part DROP CONSTRAINT part_pkey CASCADE; -- and that pieces and search refer to it
	ALTER TABLE part DROP CONSTRAINT part_id_key;
	ALTER TABLE part ADD PRIMARY KEY (id);
	CREATE INDEX part_n ON part USING brin (n) WITH (autosummarize = on);
	CREATE FUNCTION part_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $removed$ BEGIN
		DELETE FROM piece WHERE part = old.n;
		DELETE FROM search WHERE part = old.n;
		RETURN NULL;
	END $removed$;
	CREATE TRIGGER part_removed AFTER DELETE ON part FOR EACH ROW EXECUTE FUNCTION part_removed();
END $$;

-- What is new comes at the end of these, or of a session in them, give or take a moment: their pages
-- need less room for what comes in between than the tenth that is left free otherwise.
ALTER INDEX part_pkey SET (fillfactor = 95);
ALTER INDEX IF EXISTS part_id_key SET (fillfactor = 95);
ALTER INDEX part_message SET (fillfactor = 95);
ALTER INDEX message_pkey SET (fillfactor = 95);
ALTER INDEX message_id_session_key SET (fillfactor = 95);
ALTER INDEX message_session_seq_key SET (fillfactor = 95);
