package auth

import (
	"bytes"
	"encoding/json"

	"lathe"
	"lathe/internal/jsonc"
)

// Marshal returns an entry with its content in clear, for who keeps it encrypted.
func Marshal(e Entry) ([]byte, error) {
	v, err := encode(e)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Unmarshal reads what [Marshal] returned.
func Unmarshal(data []byte) (Entry, error) {
	v, err := jsonc.Parse("credential", data)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeAuth, "store it again", "a stored credential cannot be read") // the error may quote it
	}
	if e := decode(v); e != nil {
		return e, nil
	}
	return nil, lathe.Errorf(lathe.CodeAuth, "store it again", "a stored credential is empty")
}

// Same reports whether two entries have the same content.
func Same(a, b Entry) bool {
	x, err := Marshal(a)
	if err != nil {
		return false
	}
	y, err := Marshal(b)
	return err == nil && bytes.Equal(x, y)
}
