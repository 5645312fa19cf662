package server

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// A frame is one line of data and an empty one: clients are there that decode all
// lines of a frame together. Ids come to those who ask for them.
func TestFramesAreDataAlone(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		path   string
		header []string
		ids    bool
	}{
		{path: "/event"}, {path: "/global/event"}, {path: "/event?parts=delta"},
		{path: "/event?ids=true", ids: true}, {path: "/global/event?ids=true", ids: true}, {path: "/event?after=", ids: true},
		{path: "/event", header: []string{"Last-Event-ID", "another-7"}, ids: true},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != nil {
			req.Header.Set(tt.header[0], tt.header[1])
		}
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		lines.Scan()
		if tt.ids && strings.HasPrefix(lines.Text(), "id: ") { // servers that share a store know from the first on where they are
			lines.Scan()
		}
		if !strings.HasPrefix(lines.Text(), "data: ") || !strings.Contains(lines.Text(), "server.connected") {
			t.Errorf("%s begins with %q", tt.path, lines.Text())
		}
		p := &player{r: r}
		p.open("prt_1")
		p.say("hello")
		p.close()
		ids := 0
		for lines.Scan() && !strings.Contains(lines.Text(), `"session.idle"`) {
			switch line := lines.Text(); {
			case line == "" || strings.HasPrefix(line, "data: {"):
			case tt.ids && strings.HasPrefix(line, "id: "):
				ids++
			default:
				t.Errorf("%s %v has the line %q", tt.path, tt.header, line)
			}
		}
		if err := lines.Err(); err != nil || ids > 0 != tt.ids {
			t.Errorf("%s %v: %d ids, %v", tt.path, tt.header, ids, err)
		}
		_ = res.Body.Close()
	}
}
