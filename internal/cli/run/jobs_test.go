package run

import "testing"

// A command that the person is told to run names the server, and no password.
func TestThere(t *testing.T) {
	for attach, want := range map[string]string{
		"": "", "auto": "",
		"http://127.0.0.1:4096":                            " --attach http://127.0.0.1:4096",
		"https://opencode:sesame@a.example.com,http://b:1": " --attach https://a.example.com,http://b:1",
	} {
		v := &view{}
		v.opts.attach = attach
		if got := v.there(); got != want {
			t.Errorf("%q: %q, want %q", attach, got, want)
		}
	}
}
