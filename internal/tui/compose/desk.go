package compose

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // registers the decoder, which reports sizes
	_ "image/jpeg"
	_ "image/png"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/workspace"
)

const (
	maxAttached = 10 << 20 // bytes of a picture that is attached
	maxDropped  = 8        // pictures that are dropped at once
	draftPause  = 800 * time.Millisecond
)

// Desk brings to the input what lies outside of it: the clipboard, and pictures that are
// dropped on the terminal.
type Desk struct{ *Composer }

// attachMsg brings pictures to attach, or the text that did not name any.
type attachMsg struct {
	files []edit.File
	text  string
	err   error
}

// Clipboard pastes the picture or the text in the clipboard. If no program
// can read it, the terminal is asked.
func (c Desk) Clipboard() tea.Msg {
	board := c.clipboard
	if board == nil {
		return tea.Raw(ansi.RequestSystemClipboard)
	}
	return func() tea.Msg {
		if data, ok := board.Image(c.access.Context()); ok {
			return c.bring(attachMsg{files: []edit.File{{Name: "clipboard.png", MIME: "image/png", Data: data}}})
		}
		if text, ok := board.Text(c.access.Context()); ok {
			return tea.PasteMsg{Content: text}
		}
		return tea.RawMsg{Msg: ansi.RequestSystemClipboard}
	}
}

// dropped reads the pictures whose paths were pasted, as terminals do when files
// are dropped on them. Other text is pasted as it is.
func (c Desk) dropped(text string) tea.Msg {
	paths := picturePaths(text)
	if paths == nil {
		return nil
	}
	return func() tea.Msg {
		m := attachMsg{text: text}
		for _, p := range paths {
			f, err := readPicture(p)
			if errors.Is(err, errNoPicture) || errors.Is(err, os.ErrNotExist) {
				return c.bring(attachMsg{text: text})
			}
			if err != nil {
				return c.bring(attachMsg{err: err})
			}
			m.files = append(m.files, f)
		}
		return c.bring(m)
	}
}

// picturePaths returns the paths that a text consists of, if all of them name
// pictures.
func picturePaths(text string) []string {
	if len(text) > 8<<10 || !strings.Contains(text, ".") {
		return nil
	}
	words := shellWords(strings.TrimSpace(text))
	if len(words) == 0 || len(words) > maxDropped {
		return nil
	}
	for i, w := range words {
		if u, err := url.Parse(w); err == nil && u.Scheme == "file" {
			w = u.Path
		}
		if rest, ok := strings.CutPrefix(w, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil
			}
			w = filepath.Join(home, rest)
		}
		switch strings.ToLower(filepath.Ext(w)) {
		case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp":
		default:
			return nil
		}
		if !filepath.IsAbs(w) {
			return nil
		}
		words[i] = w
	}
	return words
}

// shellWords splits a text as a shell would: at blanks and line breaks that are
// neither quoted nor escaped. A text with an open quote has no words.
func shellWords(text string) []string {
	var out []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			open = true
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if quote != 0 {
		return nil
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

var errNoPicture = errors.New("not a picture")

func readPicture(name string) (edit.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return edit.File{}, err
	}
	if info.Size() > maxAttached {
		return edit.File{}, fmt.Errorf("attach %s: it has %d MB; at most %d MB can be attached", filepath.Base(name), info.Size()>>20, maxAttached>>20)
	}
	data, err := workspace.ReadFile(name, maxAttached)
	if err != nil {
		return edit.File{}, fmt.Errorf("attach %s: %w", filepath.Base(name), err)
	}
	kind := workspace.MediaType(data)
	if !strings.HasPrefix(kind, "image/") {
		return edit.File{}, errNoPicture
	}
	return edit.File{Name: filepath.Base(name), MIME: kind, Data: data}, nil
}

// bring handles what was read in the background.
func (c Desk) bring(m attachMsg) tea.Msg {
	return dialog.Here(func() tea.Msg { return c.attach(m) })
}

// attach puts chips for pictures into the input.
func (c Desk) attach(m attachMsg) tea.Msg {
	if m.err != nil {
		return dialog.Fail(m.err)
	}
	if len(m.files) == 0 {
		c.Paste(m.text)
		return c.Changed()
	}
	var failed tea.Msg
	for _, f := range m.files {
		if len(f.Data) > maxAttached {
			failed = dialog.Fail(fmt.Errorf("attach %s: it has %d MB; at most %d MB can be attached", f.Name, len(f.Data)>>20, maxAttached>>20))
			continue
		}
		what := "image"
		if c, _, err := image.DecodeConfig(bytes.NewReader(f.Data)); err == nil {
			what = fmt.Sprintf("image %dx%d", c.Width, c.Height)
		}
		c.Attach(f, what)
	}
	return dialog.All{Writing{}, c.Changed(), failed}
}

// draftLater keeps the draft after a pause in typing.
func (c *Composer) draftLater() tea.Msg {
	if c.memory == nil || c.drafting {
		return nil
	}
	c.drafting = true
	return dialog.Soon{After: draftPause, Then: dialog.Here(func() tea.Msg {
		c.drafting = false
		return c.keepDraft()
	})}
}

// keepDraft keeps what is written now.
func (c *Composer) keepDraft() tea.Msg {
	id, d := string(c.host.Session().ID), c.Draft()
	return func() tea.Msg { return dialog.Done{Err: c.memory.Keep(id, d)} }
}

// Keep stores the draft; it is called when the session is left or the screen ends.
func (c *Composer) Keep() error {
	if c.memory == nil {
		return nil
	}
	return c.memory.Keep(string(c.host.Session().ID), c.Draft())
}
