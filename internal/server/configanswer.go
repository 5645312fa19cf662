package server

import (
	"encoding/json"
	"maps"
	"sync"

	"lathe/internal/config"
	"lathe/internal/opencode/wire"
)

// withoutSecrets hides in an answer made from a configuration whatever the
// configuration's own answer hides.
func withoutSecrets(conf *config.Config, v any, err error) (any, error) {
	hide := conf.Redactor()
	if err != nil || hide == nil {
		return v, err
	}
	raw, err := wire.Marshal(v)
	return json.RawMessage(hide(raw)), err
}

// keybinds are the keys of OpenCode 1.1.34, by action. Its screen has none but
// those that the configuration it is given names.
var keybinds = sync.OnceValue(func() map[string]string {
	var doc struct {
		Schemas struct {
			KeybindsConfig struct {
				Properties map[string]struct{ Default string }
			}
		}
	}
	out := map[string]string{}
	if json.Unmarshal(contract, &doc) == nil {
		for name, p := range doc.Schemas.KeybindsConfig.Properties {
			out[name] = p.Default
		}
	}
	return out
})

// configAnswer is a configuration with what OpenCode fills in: its clients read
// these fields without asking whether they are there.
func configAnswer(raw []byte) (any, error) {
	out := map[string]any{
		"agent": struct{}{}, "mode": struct{}{}, "command": struct{}{}, "plugin": []string{},
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(raw, &own); err != nil {
		return nil, err
	}
	for name, v := range own {
		out[name] = v
	}
	keys := map[string]any{}
	for action, key := range keybinds() {
		keys[action] = key
	}
	var chosen map[string]any
	if raw := own["keybinds"]; raw != nil {
		if err := json.Unmarshal(raw, &chosen); err != nil {
			return nil, err
		}
	}
	maps.Copy(keys, chosen)
	out["keybinds"] = keys
	return out, nil
}
