package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

// values is what a store keeps beside one session.
type values struct {
	store.SessionReader
	store.SessionWriter
	m   map[string][]byte
	err error
}

func (v *values) Value(_ context.Context, _ lathe.SessionID, key string) ([]byte, error) {
	return v.m[key], v.err
}

func (v *values) SetValue(_ lathe.SessionID, key string, value []byte) error {
	v.m[key] = value
	return v.err
}

func TestDocument(t *testing.T) {
	type note struct {
		Text string `json:"text"`
	}
	const doc store.Document[note] = "note"
	v := &values{m: map[string][]byte{}}
	if got, ok, err := doc.Get(t.Context(), v, "ses_1"); ok || err != nil || got != (note{}) {
		t.Errorf("nothing was stored, and it is %v, %v, %v", got, ok, err)
	}
	if err := doc.Set(v, "ses_1", note{"a"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"note": []byte(`{"text":"a"}`)}, v.m); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if got, ok, err := doc.Get(t.Context(), v, "ses_1"); !ok || err != nil || got != (note{"a"}) {
		t.Errorf("read %v, %v, %v", got, ok, err)
	}
	v.m["note"] = []byte(`{"text":"half`)
	if got, ok, err := doc.Get(t.Context(), v, "ses_1"); ok || err == nil || got != (note{}) {
		t.Errorf("damaged, and it is %v, %v, %v", got, ok, err)
	}
	v.err = errors.New("no")
	if _, _, err := doc.Get(t.Context(), v, "ses_1"); !errors.Is(err, v.err) {
		t.Errorf("the store failed: %v", err)
	}
}
