package config

import (
	"slices"
	"strings"

	"lathe/internal/jsonc"
)

// SecretVariables names the environment variables that the configuration takes
// credentials from: what {env:NAME} stands for in a value that holds a secret, such
// as "apiKey": "{env:NAME}". Headers and environments hold other things too, so there
// the name has to sound like a secret. getenv returns their values.
func (c *Config) SecretVariables(getenv func(string) string) []string {
	if len(c.placeheld) == 0 {
		return nil
	}
	var secrets, mixed []string
	collectSecrets(c.tree, false, &secrets, &mixed)
	var out []string
	for _, name := range c.placeheld {
		value := getenv(name)
		if value != "" && (holds(secrets, value) || soundsSecret(name) && holds(mixed, value)) {
			out = append(out, name)
		}
	}
	return out
}

// shortSecret is the length from which a value is searched for inside others: a
// port may occur in a key by chance.
const shortSecret = 8

func holds(list []string, value string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		return s == value || len(value) >= shortSecret && strings.Contains(s, value)
	})
}

// collectSecrets lists the texts that hold a secret, and those that may.
func collectSecrets(v *jsonc.Value, mayHold bool, secrets, mixed *[]string) {
	if v == nil {
		return
	}
	for _, m := range v.Members {
		switch {
		case m.Value.Kind != jsonc.String:
			collectSecrets(m.Value, holdsSecrets(m.Key), secrets, mixed)
		case secretKey(m.Key):
			*secrets = append(*secrets, m.Value.Text)
		case mayHold:
			*mixed = append(*mixed, m.Value.Text)
		}
	}
	for _, e := range v.Items {
		collectSecrets(e, false, secrets, mixed)
	}
}

// soundsSecret reports whether a variable is named like one that holds a secret.
func soundsSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "BEARER"}, func(word string) bool {
		return strings.Contains(name, word)
	}) || strings.HasSuffix(name, "_PAT")
}

// holdsSecrets reports whether a text below the key may be a credential.
func holdsSecrets(key string) bool {
	return key == "headers" || key == "environment" || key == "env"
}
