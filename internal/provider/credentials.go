package provider

import (
	"maps"
	"slices"
	"time"

	"lathe/internal/api"
	"lathe/internal/auth"
	"lathe/internal/catalog"
)

// Credentials lists the stored credentials and the keys in the environment, ordered by
// provider. It needs no configuration.
func Credentials(store *auth.Store, known *catalog.Catalog, getenv func(string) string, now time.Time) (api.Credentials, error) {
	out := api.Credentials{Stored: []api.Credential{}, Environment: []api.FoundKey{}}
	all, err := store.All()
	if err != nil {
		return out, err
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		out.Stored = append(out.Stored, api.Credential{Provider: id, Kind: kindOf(id, all[id], now)})
	}
	for _, info := range known.Providers() {
		for _, name := range info.Env {
			if getenv(name) != "" {
				out.Environment = append(out.Environment, api.FoundKey{Provider: info.ID, Name: info.Name, Variable: name})
			}
		}
	}
	return out, nil
}

func kindOf(id string, e auth.Entry, now time.Time) string {
	switch e := e.(type) {
	case auth.API:
		return "key"
	case auth.OAuth:
		if why := LoginProblem(id, e, now); why != "" {
			return "login (oauth), cannot be used: " + why
		}
		return "login (oauth)"
	case auth.WellKnown:
		return "organisation"
	}
	return "of a kind lathe does not know"
}
