package proxy

import (
	"errors"
	"testing"

	"lathe/internal/netguard"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"example.org:443": "example.org", "EXAMPLE.org.:80": "example.org", "example.org": "example.org", "example.org:22": "example.org:22",
		"[::1]:80": "::1", "[::1]": "::1", "[2001:DB8::1]:8080": "[2001:db8::1]:8080", "[::ffff:1.2.3.4]:80": "1.2.3.4", "1.2.3.4": "1.2.3.4",
		"bücher.example:443": "xn--bcher-kva.example", "_dmarc.example.org:80": "_dmarc.example.org", "例え.テスト": "xn--r8jz45g.xn--zckzah",
		"": "", ":80": "", "a:b:c": "", "a:99999": "", "a:0": "", "a:-1": "", "[fe80::1%eth0]:80": "", "a..b": "", ".": "", "a/b:80": "", "a@b:80": "",
		"127.1": "", "0x7f000001:80": "", "017700000001": "", "a\x00b": "", "a\r\nb:80": "", "[a]b:1": "",
	} {
		got, err := ParseTarget(text, 80)
		if want == "" {
			if !errors.Is(err, errTarget) {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			continue
		}
		if err != nil || got.Label() != want {
			t.Errorf("%q: %q, %v; want %q", text, got.Label(), err, want)
		}
	}
}

// checkTarget holds what every target keeps: it is its own spelling, and no name of an
// address that only some resolvers know.
func checkTarget(t *testing.T, target Target) {
	again, err := ParseTarget(target.String(), 0)
	if err != nil || again != target {
		t.Fatalf("%v read again is %v, %v", target, again, err)
	}
	if _, literal := target.Addr(); !literal {
		if kind, tells := netguard.KindOfHost(target.Host); tells && kind == netguard.Public {
			t.Fatalf("%v is an address that is none", target)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, text := range []string{"example.org:443", "[::1]:80", "bücher.example", "127.1", "a..b:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if target, err := ParseTarget(text, 80); err == nil {
			checkTarget(t, target)
		}
	})
}
