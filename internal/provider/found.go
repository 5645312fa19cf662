package provider

// Local reports whether a provider is one of the servers that are looked for on
// this machine.
func (r *Registry) Local(id string) bool { return r.isLocal(id) }

// Variable returns the environment variable that holds a provider's key, or "".
func (r *Registry) Variable(id string) string {
	if e := r.entries[id]; e != nil {
		return e.env
	}
	return ""
}
