package auth

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/jsonc"
)

// Secret is a credential that does not show itself: printing, logging and
// marshalling it give "[secret]". Only Reveal returns the content.
type Secret struct{ value string }

const hidden = "[secret]"

// NewSecret returns a secret with the content.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal returns the content, for the request that needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no content.
func (s Secret) IsZero() bool { return s.value == "" }

// Equal reports whether both hold the same content.
func (s Secret) Equal(o Secret) bool { return s.value == o.value }

// String returns a placeholder; empty for an empty secret.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return hidden
}

// Format prints the placeholder whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText returns the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func collect(tree *jsonc.Value) map[string]Entry {
	all := map[string]Entry{}
	if tree == nil {
		return all
	}
	for _, m := range tree.Members {
		if e := decode(m.Value); e != nil {
			all[ID(m.Key)] = e
		}
	}
	return all
}

// decode returns nil for something that is not an entry at all.
func decode(v *jsonc.Value) Entry {
	switch kind := text(v, "type"); kind {
	case "":
		return nil
	case "api":
		if text(v, "key") == "" {
			return nil
		}
		e := API{Key: NewSecret(text(v, "key"))}
		if meta := v.Get("metadata"); meta != nil && meta.Kind == jsonc.Object {
			e.Metadata = map[string]string{}
			for _, m := range meta.Members {
				if m.Value.Kind == jsonc.String {
					e.Metadata[m.Key] = m.Value.Text
				}
			}
		}
		return e
	case "oauth":
		e := OAuth{
			Refresh: NewSecret(text(v, "refresh")), Access: NewSecret(text(v, "access")),
			AccountID: text(v, "accountId"), EnterpriseURL: text(v, "enterpriseUrl"),
		}
		if ms := number(v, "expires"); ms > 0 {
			e.Expires = time.UnixMilli(ms)
		}
		return e
	case "wellknown":
		if text(v, "key") == "" {
			return nil
		}
		return WellKnown{Key: text(v, "key"), Token: NewSecret(text(v, "token"))}
	default:
		return Unknown{Type: kind}
	}
}

func text(v *jsonc.Value, key string) string {
	if e := v.Get(key); e != nil && e.Kind == jsonc.String {
		return e.Text
	}
	return ""
}

func number(v *jsonc.Value, key string) int64 {
	e := v.Get(key)
	if e == nil || e.Kind != jsonc.Number {
		return 0
	}
	f, err := strconv.ParseFloat(e.Text, 64)
	if err != nil || f < 0 || f > 1e15 {
		return 0
	}
	return int64(f)
}

// known reports whether encode writes a field and so decides about it.
func known(key string) bool {
	switch key {
	case "type", "key", "metadata", "refresh", "access", "expires", "accountId", "enterpriseUrl", "token":
		return true
	}
	return false
}

func encode(e Entry) (*jsonc.Value, error) {
	v := jsonc.NewObject()
	put := func(key, val string) {
		if val != "" {
			v.Set(key, jsonc.NewString(val))
		}
	}
	switch e := e.(type) {
	case API:
		put("type", "api")
		put("key", e.Key.Reveal())
		if len(e.Metadata) > 0 {
			meta := jsonc.NewObject()
			for _, k := range slices.Sorted(maps.Keys(e.Metadata)) {
				meta.Set(k, jsonc.NewString(e.Metadata[k]))
			}
			v.Set("metadata", meta)
		}
	case OAuth:
		put("type", "oauth")
		v.Set("refresh", jsonc.NewString(e.Refresh.Reveal()))
		v.Set("access", jsonc.NewString(e.Access.Reveal()))
		ms := int64(0)
		if !e.Expires.IsZero() {
			ms = e.Expires.UnixMilli()
		}
		v.Set("expires", &jsonc.Value{Kind: jsonc.Number, Text: strconv.FormatInt(ms, 10)})
		put("accountId", e.AccountID)
		put("enterpriseUrl", e.EnterpriseURL)
	case WellKnown:
		put("type", "wellknown")
		put("key", e.Key)
		v.Set("token", jsonc.NewString(e.Token.Reveal()))
	default:
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "a credential of type %T cannot be stored", e)
	}
	if a, ok := e.(API); ok && a.Key.IsZero() {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "the key is empty")
	}
	return v, nil
}
