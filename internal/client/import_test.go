package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"lathe"
	"lathe/internal/api"
)

// TestImportEnds reads imports that end well, with an error and in the middle.
func TestImportEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		news   int // that were read before the end
		code   lathe.Code
		hint   string
	}{
		"well":          {`{"session":{"id":"ses_a","outcome":"added"}}` + "\n" + `{"sum":{"sessions":1}}` + "\n", 2, "", ""},
		"with an error": {`{"leftOut":"x"}` + "\n" + `{"failed":{"code":"full","message":"the disk is full","hint":"make room"}}` + "\n", 1, lathe.CodeFull, "make room"},
		"in the middle": {`{"leftOut":"x"}` + "\n" + `{"sess`, 1, lathe.CodeInvalid, "is it running? start one with: lathe serve"},
	} {
		t.Run(name, func(t *testing.T) {
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tt.answer) }))
			defer ts.Close()
			c, err := New(Options{URL: ts.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			news, hint := 0, ""
			var end error
			for _, err := range c.Import(t.Context(), api.Import{Path: "/x"}) {
				if end = err; err == nil {
					news++
				}
			}
			if e, ok := end.(*lathe.Error); ok {
				hint = e.Hint
			}
			if code := lathe.CodeOf(end); news != tt.news || end == nil && tt.code != "" || end != nil && code != tt.code || hint != tt.hint {
				t.Errorf("%d pieces of news, then %v (%q)", news, end, hint)
			}
		})
	}
}
