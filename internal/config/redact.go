package config

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe/internal/jsonc"
)

const redacted = "[secret]"

// JSON returns the merged configuration in OpenCode's shape. What came from {env:}
// and {file:}, what a key calls a secret, and user information in addresses are
// replaced by a placeholder. The bytes are always the same for the same sources.
func (c *Config) JSON() []byte {
	tree := c.tree.Clone()
	(&redaction{}).object(tree, false)
	return tree.Append(nil)
}

// shortest is the length from which a secret is also searched for as text:
// shorter ones occur elsewhere by chance.
const shortest = 8

// Redactor returns a function that replaces the texts hidden by [Config.JSON] in
// other JSON made from the configuration; nil if there are none.
func (c *Config) Redactor() func(raw []byte) []byte {
	var r redaction
	r.object(c.tree.Clone(), false)
	long := slices.DeleteFunc(r.hidden, func(text string) bool { return len(text) < shortest })
	if len(long) == 0 {
		return nil
	}
	return func(raw []byte) []byte {
		for _, text := range long {
			for _, quoted := range quotings(text) {
				raw = bytes.ReplaceAll(raw, quoted, []byte(`"`+redacted+`"`))
			}
		}
		return raw
	}
}

// quotings are the ways in which JSON may spell a text.
func quotings(text string) [][]byte {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // strings always encode
	escaped, _ := json.Marshal(text)
	return [][]byte{bytes.TrimSuffix(plain.Bytes(), []byte("\n")), escaped}
}

// redaction hides texts of a configuration and keeps what they were.
type redaction struct{ hidden []string }

// object processes an object; all says that each of its texts may be a secret.
func (r *redaction) object(v *jsonc.Value, all bool) {
	if v == nil {
		return
	}
	for _, m := range v.Members {
		switch {
		case m.Value.Kind != jsonc.String:
			r.object(m.Value, holdsSecrets(m.Key))
		case all || secretKey(m.Key) || m.Value.Expanded() && !shown(m.Key):
			r.hide(m.Value, redacted)
		default:
			r.hide(m.Value, HideCredentials(m.Value.Text))
		}
	}
	named := false // the item before announces a secret: --token VALUE
	for _, e := range v.Items {
		if e.Kind != jsonc.String {
			r.object(e, false)
			continue
		}
		switch flag, _, with := strings.Cut(e.Text, "="); {
		case named || e.Expanded():
			r.hide(e, redacted)
			named = false
		case strings.HasPrefix(flag, "-") && secretKey(flag) && with:
			r.hide(e, flag+"="+redacted)
		default:
			named = strings.HasPrefix(flag, "-") && secretKey(flag)
			r.hide(e, HideCredentials(e.Text))
		}
	}
}

func (r *redaction) hide(v *jsonc.Value, as string) {
	if v.Text == "" || v.Text == as {
		return
	}
	r.hidden = append(r.hidden, v.Text)
	v.Text = as
}

// shown reports whether clients need a value wherever it came from: names of models,
// agents and themes.
func shown(key string) bool {
	return slices.Contains([]string{"model", "small_model", "default_agent", "agent", "theme"}, key)
}

var (
	userInfo = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s"'@]*(?:@[^/?#\s"'@]*)*@`)
	})
	queryValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([?&])([^=&#\s]+)=([^&#\s"']+)`) })
)

// HideCredentials replaces user information in the addresses of a text, and values
// of their queries that are named like secrets.
func HideCredentials(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	text = userInfo().ReplaceAllString(text, "${1}"+redacted+"@")
	return queryValue().ReplaceAllStringFunc(text, func(s string) string {
		name, _, _ := strings.Cut(s[1:], "=")
		if low := strings.ToLower(name); !secretKey(name) && low != "key" && low != "auth" && low != "sig" && low != "signature" {
			return s
		}
		return s[:1] + name + "=" + redacted
	})
}

// secretKey reports whether a key is named like one that holds a secret.
func secretKey(key string) bool {
	low := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	for _, word := range []string{
		"apikey", "api_key", "secret", "password", "passwd", "passphrase", "accesskey", "access_key", "privatekey", "private_key", "authorization",
		"credential", "bearer",
	} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return strings.HasSuffix(low, "token")
}

// HideArguments returns the arguments of a program without values named like
// secrets, and without credentials in addresses.
func HideArguments(args []string) []string {
	items := make([]*jsonc.Value, len(args))
	for i, a := range args {
		items[i] = jsonc.NewString(a)
	}
	list := &jsonc.Value{Kind: jsonc.Array, Items: items}
	new(redaction).object(list, false)
	out := make([]string, len(args))
	for i, item := range list.Items {
		out[i] = item.Text
	}
	return out
}
