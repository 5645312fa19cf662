package api

import "time"

// PersonKey tells of a key that a person has for a provider, without the key.
type PersonKey struct {
	Person   string    `json:"person"`
	Provider string    `json:"provider"`
	Hint     string    `json:"hint"` // its last characters, at most four
	Changed  time.Time `json:"changed"`
	Readable bool      `json:"readable"` // by the machine that tells it
}
