package tui

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"lathe"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/picture"
)

func TestPictures(t *testing.T) {
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(pngOf(t, 400, 280))
	m := question(1, "see this")
	m.Parts = append(m.Parts, part(m, 2, &lathe.File{MIME: "image/png", Filename: "a.png", URL: url}),
		part(m, 3, &lathe.File{MIME: "image/png", Filename: "broken.png", URL: "data:image/png;base64,AAAA"}))
	read := reply(2, &lathe.ToolCall{Tool: "read", State: &lathe.ToolDone{Input: []byte(`{"filePath":"b.png"}`), Attachments: []lathe.File{{MIME: "image/png", URL: url}}}})
	d := withHistory(t, Options{}, m)
	d.app.height = 60
	d.shows("a.png")
	plain := 0 // lines from the first picture to the end of the answer, without pictures
	for _, mode := range []picture.Mode{picture.None, picture.Blocks, picture.Kitty} {
		d.app.look.Pictures = mode
		d.do(d.app.open("ses_1"))
		d.event(lathe.MessageUpdated{Message: read}, lathe.PartUpdated{Part: read.Parts[0]})
		want := map[picture.Mode]int{picture.None: 0, picture.Blocks: 2, picture.Kitty: 2}[mode]
		from, till := 0, 0
		for i, line := range d.lines() {
			if strings.HasSuffix(line, " a.png") {
				from = i
			}
			if strings.Contains(line, "build · acme/big · 3s") {
				till = i
			}
		}
		if plain == 0 {
			plain = till - from
		}
		n := (till - from - plain) / 14
		if n != want {
			t.Errorf("mode %d: %d pictures are shown, want %d", mode, n, want)
		}
		d.shows("a.png", "broken.png")
	}
	if len(d.raw) != 2 || !strings.HasPrefix(d.raw[0], "\x1b_G") {
		t.Errorf("the terminal was handed %d pictures", len(d.raw))
	}
}

func TestPictureMode(t *testing.T) {
	for _, tt := range []struct {
		p    colorprofile.Profile
		env  []string
		want picture.Mode
	}{
		{colorprofile.TrueColor, []string{"TERM=xterm-kitty"}, picture.Kitty},
		{colorprofile.TrueColor, []string{"TERM=xterm-kitty", "TMUX=x"}, picture.Blocks},
		{colorprofile.TrueColor, []string{"TERM=xterm-256color", "TERM_PROGRAM=ghostty"}, picture.Kitty},
		{colorprofile.ANSI256, []string{"TERM=xterm-256color"}, picture.Blocks},
		{colorprofile.ANSI, []string{"TERM=linux"}, picture.None},
		{colorprofile.ASCII, []string{"TERM=xterm-kitty"}, picture.None},
	} {
		if got := chat.PictureMode(tt.p, tt.env); got != tt.want {
			t.Errorf("%v %v: %v, want %v", tt.p, tt.env, got, tt.want)
		}
	}
}
