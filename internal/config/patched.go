package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"lathe/internal/jsonc"
)

// Whole returns the merged configuration in OpenCode's shape, secrets and all: what
// plugins are given to change.
func (c *Config) Whole() []byte { return c.tree.Append(nil) }

// TrustOf says who is responsible for what was written at a place.
func (c *Config) TrustOf(pos jsonc.Pos) Trust {
	for _, s := range c.Sources {
		if s.Name == pos.File {
			return s.Trust
		}
	}
	return ""
}

// With returns the configuration with some of its top-level keys replaced by what name
// made of them. An unsuitable value is an error, which does not quote it.
func (c *Config) With(name, home string, changed map[string]json.RawMessage) (*Config, error) {
	d := &decoder{home: home}
	root := c.tree.Clone()
	next := *c
	next.trust = maps.Clone(c.trust)
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		src := jsonc.NewSource(name, []byte(`{`+quoted(key)+`:`+string(changed[key])+`}`))
		v, err := src.Parse()
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, key, err)
		}
		d.lower(v)
		next.trust[src] = User
		for _, m := range v.Members {
			root.Put(m)
		}
	}
	lowerTools(root, d, "")
	fresh := Config{}
	d.object(root, "", reflect.ValueOf(&fresh).Elem())
	if len(d.issues) > 0 {
		return nil, fmt.Errorf("%s: %s", name, d.issues[0].Msg)
	}
	fresh.Flags, fresh.Directories, fresh.Trusted, fresh.Env = next.Flags, next.Directories, next.Trusted, next.Env
	fresh.Sources = append(slices.Clone(next.Sources), Source{name, User})
	fresh.Warnings, fresh.LeftOut, fresh.placeheld = next.Warnings, next.LeftOut, next.placeheld
	fresh.repoRules, fresh.repoAgents = next.repoRules, next.repoAgents
	fresh.tree, fresh.trust = root, next.trust
	return &fresh, nil
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // strings always encode
		panic(err)
	}
	return string(text)
}
