package sandbox

// sight remembers what a policy's paths were found to be, while one process starts:
// several layers ask for the same. It must not outlive the start, since the process and
// its neighbours change files.
type sight struct {
	protected []string // what is protected and there
	looked    bool
	real      map[string]string // without links, by path; empty: there is nothing
	look      *look
}

func newSight(a *absences) *sight { return &sight{real: map[string]string{}, look: a.look()} }

// later returns the policy for what is looked at when the process has ended.
func (policy *Policy) later() *Policy {
	p := *policy
	p.now = nil
	return &p
}

// realOf resolves the links of a path; empty: there is nothing.
func (policy *Policy) realOf(path string, resolve func(string) string) string {
	if policy.now == nil {
		return resolve(path)
	}
	real, ok := policy.now.real[path]
	if ok || policy.now.look.gone(path) {
		return real
	}
	if real = resolve(path); real == "" {
		policy.now.look.missed(path)
	}
	policy.now.real[path] = real
	return real
}
