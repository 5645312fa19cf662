package provider

import (
	"context"

	"lathe/internal/api"
)

// Found says what could answer: keys in the environment, model servers on this
// machine (which it looks for if nothing else is connected), and providers with a
// stored credential.
func (r *Registry) Found(ctx context.Context) (api.Found, error) {
	_, _, _ = r.Default(ctx) // looks for local servers
	list, err := r.List()
	if err != nil {
		return api.Found{}, err
	}
	out := api.Found{Keys: []api.FoundKey{}, Servers: []api.FoundServer{}, Stored: []string{}}
	for _, p := range list {
		switch {
		case p.Source == "builtin":
		case r.isLocal(p.ID):
			out.Servers = append(out.Servers, api.FoundServer{Provider: p.ID, Name: p.Name, URL: p.API, Models: len(p.Models)})
		case p.Source == "env":
			out.Keys = append(out.Keys, api.FoundKey{Provider: p.ID, Name: p.Name, Variable: r.variable(p.ID)})
		default:
			out.Stored = append(out.Stored, p.ID)
		}
	}
	return out, nil
}

// variable returns the environment variable that holds a provider's key, or "".
func (r *Registry) variable(id string) string {
	if e := r.entries[id]; e != nil {
		return e.env
	}
	return ""
}
