-- +goose Up
-- What a person set about a project: its name, icon and start command.
ALTER TABLE project ADD COLUMN data TEXT NOT NULL DEFAULT '{}';

PRAGMA user_version = 3;

-- +goose Down
SELECT 1;
