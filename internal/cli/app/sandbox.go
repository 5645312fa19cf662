package app

import "lathe/internal/sandbox"

// sandboxOptions reads the highest level of confinement to use, which tests of
// lower levels set.
func sandboxOptions(getenv func(string) string) (o sandbox.Options) {
	for _, level := range []sandbox.Level{sandbox.RulesOnly, sandbox.Files, sandbox.Full} {
		if getenv("LATHE_SANDBOX_LEVEL") == level.String() {
			o.Most = &level
		}
	}
	return o
}
