-- +goose Up
-- What an offered directory is a clone of, without credentials.
ALTER TABLE offer ADD COLUMN remote TEXT NOT NULL DEFAULT '';
