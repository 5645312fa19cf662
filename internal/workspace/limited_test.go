package workspace

import (
	"io"
	"strings"
	"testing"
)

func TestLimited(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		cut        bool
	}{{"", "", false}, {"abcd", "abcd", false}, {"abcde", "abcd", true}} {
		for name, write := range map[string]func(*Limited) (int64, error){
			"whole": func(l *Limited) (int64, error) { return io.Copy(l, strings.NewReader(tc.text)) },
			"by byte": func(l *Limited) (int64, error) {
				return io.CopyBuffer(l, struct{ io.Reader }{strings.NewReader(tc.text)}, make([]byte, 1))
			},
		} {
			l := &Limited{Max: 4}
			n, err := write(l)
			if err != nil || n != int64(len(tc.text)) || l.String() != tc.want || string(l.Bytes()) != tc.want || l.Cut() != tc.cut {
				t.Errorf("%q, %s: took %d, %v; kept %q, cut %v", tc.text, name, n, err, l.String(), l.Cut())
			}
		}
	}
}
