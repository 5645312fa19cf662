-- +goose Up
-- Whether what was asked is stored in its session. It is not stored a second time, also when
-- it is not there any more.
ALTER TABLE work ADD COLUMN accepted BOOLEAN NOT NULL DEFAULT false;
