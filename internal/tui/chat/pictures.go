package chat

import (
	"encoding/base64"
	"hash/fnv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"lathe"
	"lathe/internal/tui/picture"
	"lathe/internal/tui/styled"
)

// maxPictures bounds how many pictures of a session are shown.
const maxPictures = 60

// PictureMode says how a terminal shows pictures. The placeholders of the kitty
// protocol need a terminal of its own, because multiplexers do not pass pictures
// on unless they are told to.
func PictureMode(p colorprofile.Profile, env []string) picture.Mode {
	get := uv.Environ(env).Getenv
	term := get("TERM")
	own := strings.Contains(term, "kitty") || strings.Contains(term, "ghostty") || get("TERM_PROGRAM") == "ghostty"
	switch {
	case p < colorprofile.ANSI256:
		return picture.None
	case p == colorprofile.TrueColor && own && get("TMUX") == "":
		return picture.Kitty
	}
	return picture.Blocks
}

// PictureMsg brings a picture that was made ready, or none if it is broken.
type PictureMsg struct {
	message lathe.MessageID
	part    lathe.PartID
	pic     *picture.Picture
}

// pictureData returns the picture that a part holds.
func pictureData(b lathe.PartBody) string {
	switch b := b.(type) {
	case *lathe.File:
		if strings.HasPrefix(b.MIME, "image/") {
			return b.URL
		}
	case *lathe.ToolCall:
		if st, ok := b.State.(*lathe.ToolDone); ok {
			for _, f := range st.Attachments {
				if strings.HasPrefix(f.MIME, "image/") {
					return f.URL
				}
			}
		}
	}
	return ""
}

// pictures are pieces whose picture is to be made ready.
type pictures []*piece

// want notes a piece that has a picture, once.
func (w *pictures) want(p *piece) {
	if !p.asked && p.picture == nil && pictureData(p.part.Body) != "" {
		*w = append(*w, p)
	}
}

// LoadPictures makes the pictures ready that came since it was called last.
func (c *Conversation) LoadPictures() tea.Cmd {
	want, mode := c.pictures, c.look().Pictures
	c.pictures = nil
	if mode == picture.None {
		return nil
	}
	var cmds []tea.Cmd
	for _, p := range want[max(0, len(want)-maxPictures):] {
		p.asked = true
		msg, url := PictureMsg{message: p.part.MessageID, part: p.part.ID}, pictureData(p.part.Body)
		cmds = append(cmds, func() tea.Msg {
			head, text, ok := strings.Cut(url, ";base64,")
			data, err := base64.StdEncoding.DecodeString(text)
			if !ok || err != nil || !strings.HasPrefix(head, "data:") {
				return msg
			}
			h := fnv.New32a()
			h.Write([]byte(msg.part))
			msg.pic, _ = picture.Decode(data, h.Sum32(), mode) // for one that is not a picture the name is shown
			return msg
		})
	}
	return tea.Batch(cmds...)
}

// Pictured shows a picture.
func (c *Conversation) Pictured(m PictureMsg) tea.Cmd {
	e := c.byID[m.message]
	if e == nil {
		return nil
	}
	for _, p := range e.pieces {
		if p.part.ID == m.part {
			p.picture, p.asked = m.pic, false
			p.fresh, e.fresh = pen{}, pen{}
		}
	}
	if m.pic == nil || m.pic.Transmit() == "" {
		return nil
	}
	return tea.Raw(m.pic.Transmit())
}

// shown returns the picture of a piece as lines.
func (l pen) shown(p *piece) []styled.Line {
	if p.picture == nil || l.ASCII {
		return nil
	}
	return p.picture.Lines()
}
