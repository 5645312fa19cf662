package tui

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // their sizes are told
	_ "image/jpeg"
	_ "image/png"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe"
	"lathe/internal/tui/clip"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
	"lathe/internal/workspace"
)

const (
	maxAttached = 10 << 20 // bytes of a picture that is attached
	maxDropped  = 8        // pictures that are dropped at once
	draftPause  = 800 * time.Millisecond
)

// Desk is what the screen can use where the person sits. Its zero value has
// nothing.
type Desk struct {
	Memory    *memory.Memory
	Clipboard *clip.Clipboard
	// Notify says how a person who looks elsewhere is told: "auto", "osc9",
	// "osc777", "bell" or "off".
	Notify string
	// NoPictures shows the names of pictures alone.
	NoPictures bool
}

// attachMsg brings pictures to attach, or the text that was none.
type attachMsg struct {
	files []edit.File
	text  string
	err   error
}

// draftMsg says that a draft is to be kept.
type draftMsg struct{}

// deskMsg handles what the desk's commands bring back.
func (a *App) deskMsg(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case attachMsg:
		return a.attach(m)
	case draftMsg:
		a.drafting = false
		return a.keepDraft()
	}
	return nil
}

// copy copies a text by all means there are: the terminal's sequence, and the
// programs of the desktop or of tmux.
func (a *App) copy(text, said string) tea.Cmd {
	board := a.opts.Desk.Clipboard
	cmds := []tea.Cmd{tea.Raw(clip.New(a.getenv).Sequence(text))}
	if board != nil {
		cmds = append(cmds, func() tea.Msg {
			if err := board.Copy(a.access.Context(), text); err != nil {
				return doneMsg{err: err}
			}
			return nil
		})
	}
	a.notify(dialog.Info, said)
	return tea.Batch(append(cmds, a.tick())...)
}

func (a *App) getenv(name string) string {
	if a.opts.Getenv == nil {
		return ""
	}
	return a.opts.Getenv(name)
}

// pasteClipboard pastes the picture or the text in the clipboard. What no program
// can reach the terminal is asked for.
func (a *App) pasteClipboard() tea.Cmd {
	board := a.opts.Desk.Clipboard
	if board == nil {
		return tea.Raw(ansi.RequestSystemClipboard)
	}
	return func() tea.Msg {
		if data, ok := board.Image(a.access.Context()); ok {
			return attachMsg{files: []edit.File{{Name: "clipboard.png", MIME: "image/png", Data: data}}}
		}
		if text, ok := board.Text(a.access.Context()); ok {
			return tea.PasteMsg{Content: text}
		}
		return tea.RawMsg{Msg: ansi.RequestSystemClipboard}
	}
}

// dropped reads the pictures whose paths were pasted, as terminals do when files
// are dropped on them. Other text is pasted as it is.
func (a *App) dropped(text string) tea.Cmd {
	paths := picturePaths(text)
	if paths == nil {
		return nil
	}
	return func() tea.Msg {
		m := attachMsg{text: text}
		for _, p := range paths {
			f, err := readPicture(p)
			if errors.Is(err, errNoPicture) || errors.Is(err, os.ErrNotExist) {
				return attachMsg{text: text}
			}
			if err != nil {
				return attachMsg{err: err}
			}
			m.files = append(m.files, f)
		}
		return m
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
// neither quoted nor escaped. An open quote makes it none at all.
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

// attach puts chips for pictures into the input.
func (a *App) attach(m attachMsg) tea.Cmd {
	if m.err != nil {
		a.fail(m.err)
		return a.tick()
	}
	if len(m.files) == 0 {
		a.input.Paste(m.text)
		return a.changed()
	}
	for _, f := range m.files {
		if len(f.Data) > maxAttached {
			a.fail(fmt.Errorf("attach %s: it has %d MB; at most %d MB can be attached", f.Name, len(f.Data)>>20, maxAttached>>20))
			continue
		}
		what := "image"
		if c, _, err := image.DecodeConfig(bytes.NewReader(f.Data)); err == nil {
			what = fmt.Sprintf("image %dx%d", c.Width, c.Height)
		}
		a.input.Attach(f, what)
	}
	a.sheets.Typed()
	return tea.Batch(a.changed(), a.tick())
}

// draftLater keeps the draft after a pause in typing.
func (a *App) draftLater() tea.Cmd {
	if a.opts.Desk.Memory == nil || a.drafting {
		return nil
	}
	wait := a.after(draftPause)
	if wait == nil {
		return nil
	}
	a.drafting = true
	return func() tea.Msg {
		if wait() == nil {
			return nil
		}
		return draftMsg{}
	}
}

// keepDraft keeps what is written now.
func (a *App) keepDraft() tea.Cmd {
	id, d := string(a.session.ID), a.input.Draft()
	return func() tea.Msg { return doneMsg{err: a.opts.Desk.Memory.Keep(id, d)} }
}

// leaveDesk keeps the draft as the screen ends.
func (a *App) leaveDesk() error {
	if a.opts.Desk.Memory == nil {
		return nil
	}
	return a.opts.Desk.Memory.Keep(string(a.session.ID), a.input.Draft())
}

// draftOf returns what was written for a session and not sent.
func (a *App) draftOf(id lathe.SessionID) edit.Editor {
	e, ok := a.drafts[id]
	if !ok && a.opts.Desk.Memory != nil {
		return edit.FromDraft(a.opts.Desk.Memory.Draft(string(id)))
	}
	return e
}

// sentNow remembers what was sent, here and for later runs, and forgets its draft.
func (a *App) sentNow(text string) tea.Cmd {
	a.input.history.Add(text)
	m, id := a.opts.Desk.Memory, string(a.session.ID)
	if m == nil {
		return nil
	}
	return func() tea.Msg { return doneMsg{err: errors.Join(m.Sent(text), m.Keep(id, edit.Draft{}))} }
}

// attention tells a person who looks elsewhere, with the terminal's own means.
func (a *App) attention(text string) tea.Cmd {
	if a.focused {
		return nil
	}
	return tea.Raw(Notification(text, a.opts.Desk.Notify, a.getenv))
}

// Notification returns the sequence that shows a text as a notification, and rings
// the bell, which multiplexers show too.
func Notification(text, how string, getenv func(string) string) string {
	const bell = "\a"
	seq := ""
	switch how {
	case "off":
		return ""
	case "bell":
	case "osc777":
		seq = "\x1b]777;notify;lathe;" + text + bell
	case "osc9":
		seq = "\x1b]9;" + text + bell
	default:
		seq = "\x1b]9;" + text + bell
		if strings.HasPrefix(getenv("TERM"), "rxvt") || strings.HasPrefix(getenv("TERM"), "foot") || getenv("VTE_VERSION") != "" {
			seq = "\x1b]777;notify;lathe;" + text + bell
		}
	}
	if seq != "" && getenv("TMUX") != "" {
		seq = ansi.TmuxPassthrough(seq)
	}
	return seq + bell
}

// recallHistory takes what earlier runs sent.
func (a *App) recallHistory() {
	if a.opts.Desk.Memory == nil {
		return
	}
	for _, text := range a.opts.Desk.Memory.History() {
		a.input.history.Add(text)
	}
}
