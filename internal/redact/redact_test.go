package redact

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"sk-proj-abcdefghijklmnopqrst":                                              Hidden,
		"Authorization: Bearer abcdefghijklmnop1":                                   "Authorization: Bearer " + Hidden,
		"postgres://me:hunter2@db/x":                                                "postgres://me:" + Hidden + "@db/x",
		`"api_key": "0123456789abcdef"`:                                             `"api_key": "` + Hidden + `"`,
		"DB_PASSWORD=correcthorse":                                                  "DB_PASSWORD=" + Hidden,
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest": Hidden + "\nrest",
		"nothing to see: tokens 12, passwords are bad":                              "nothing to see: tokens 12, passwords are bad",
		"commit 0123456789abcdef0123456789abcdef01234567":                           "commit 0123456789abcdef0123456789abcdef01234567",
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("password = x")
	f.Fuzz(func(t *testing.T, s string) { Text(s) })
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"hello, world\") } // a line of code\n", 16<<10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
