package vim

import (
	"strings"
	"testing"
	"unicode/utf8"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/styled"
)

// play types into an editor as the screen does: what vim does not take is written. <esc> and
// <c-r> are keys; the result has a bar at the caret.
func play(e *edit.Editor, v *Vim, typed string) string {
	room := Room{Width: 60, Method: styled.WcWidth}
	for len(typed) > 0 {
		stroke, n := "", 0
		for name, s := range map[string]string{"<esc>": "esc", "<c-r>": "ctrl+r"} {
			if strings.HasPrefix(typed, name) {
				stroke, n = s, len(name)
			}
		}
		text := ""
		if n == 0 {
			_, n = utf8.DecodeRuneInString(typed)
			text = typed[:n]
			stroke = text
		}
		typed = typed[n:]
		if !v.Key(e, stroke, text, room) && text != "" {
			e.Type(text)
		}
	}
	return e.Text()[:e.Caret()] + "|" + e.Text()[e.Caret():]
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ text, typed, want string }{
		{"one two three", "0", "|one two three"},
		{"one two three", "0w", "one |two three"},
		{"one two three", "02w", "one two |three"},
		{"one two three", "0e", "on|e two three"},
		{"one, two", "0w", "one|, two"},
		{"one, two", "0W", "one, |two"},
		{"one two three", "b", "one two |three"},
		{"one two three", "bb", "one |two three"},
		{"one two three", "0$", "one two thre|e"},
		{"  one", "0^", "  |one"},
		{"a\nb\nc", "gg", "|a\nb\nc"},
		{"a\nb\nc", "ggG", "a\nb\n|c"},
		{"a\nb\nc", "2G", "a\n|b\nc"},
		{"a\nb\nc", "ggjj", "a\nb\n|c"},
		{"漢字 かな", "0w", "漢字 |かな"},
		{"漢字かな", "0lx", "漢|かな"},
		{"👩‍👩‍👧b", "0x", "|b"},
		{"one two", "0x", "|ne two"},
		{"one two", "03x", "| two"},
		{"one two", "0dw", "|two"},
		{"one two three", "0d2w", "|three"},
		{"one two three", "02dw", "|three"},
		{"one two", "$daw", "one| "},
		{"one two three", "0wdiw", "one | three"},
		{"one two\nthree", "ggwdw", "one| \nthree"},
		{"one two", "0wd0", "|two"},
		{"one two", "0wD", "one| "},
		{"one two", "0d$", "|"},
		{"a\nb\nc", "ggdd", "|b\nc"},
		{"a\nb\nc", "dd", "a\n|b"},
		{"a\nb\nc", "gg2dd", "|c"},
		{"a\nb\nc", "ggdj", "|c"},
		{"a\nb\nc", "ggdG", "|"},
		{"a\nb\nc", "ggyyp", "a\n|a\nb\nc"},
		{"a\nb", "yyP", "a\n|b\nb"},
		{"a\nb", "ggdd3p", "b\n|a\na\na"},
		{"one two", "0ywP", "one| one two"},
		{"ab", "0xp", "b|a"},
		{"one two", "0cwnew<esc>", "ne|w two"},
		{"one two", "0cwnew<esc>w.", "new ne|w"},
		{"one two three", "0dw.", "|three"},
		{"a b", "0cwx<esc>", "|x b"},
		{"one two", "0wCnew<esc>", "one ne|w"},
		{"one", "ccnew<esc>", "ne|w"},
		{"one", "Onew<esc>", "ne|w\none"},
		{"one", "onew<esc>", "one\nne|w"},
		{"one", "Ax<esc>", "one|x"},
		{"  one", "Ix<esc>", "  |xone"},
		{"one", "0ax<esc>", "o|xne"},
		{"one", "0rx", "|xne"},
		{"one", "02rx", "x|xe"},
		{"one", "09rx", "|one"},
		{"one two", "0fw", "one t|wo"},
		{"one two", "0dtw", "|wo"},
		{"one two", "0dfw", "|o"},
		{"one two", "Fn", "o|ne two"},
		{"one two", "0fz", "|one two"},
		{"one two", "0dwu", "|one two"},
		{"one two", "0dwu<c-r>", "|two"},
		{"one two", "0vex", "| two"},
		{"one two", "0wvbd", "|wo"},
		{"one two", "0vlly$p", "one twoon|e"},
		{"one two", "0vwcx<esc>", "|xwo"},
		{"one", "0v<esc>x", "|ne"},
		{"one", "~", "on|E"},
		{"a\nb", "ggJ", "a| b"},
		{"one", "0d<esc>x", "|ne"},
		{"one two", "0df", "|one two"},
		{"one", "0q9x", "|"},
		{"", "x", "|"},
		{"", "ddp", "\n|"},
	} {
		e, v := &edit.Editor{}, &Vim{On: true}
		e.Set(tt.text)
		got := play(e, v, "<esc>"+tt.typed)
		if got != tt.want {
			t.Errorf("%q, %s: %q, want %q", tt.text, tt.typed, got, tt.want)
		}
	}
}

// TestChipsStayWhole holds that a chip is taken or left, never cut.
func TestChipsStayWhole(t *testing.T) {
	e, v := &edit.Editor{}, &Vim{On: true}
	e.Type("see ")
	e.Paste(strings.Repeat("line\n", 20))
	e.Type(" there")
	if got := play(e, v, "<esc>0wdw"); !strings.HasPrefix(got, "see |") || strings.Contains(got, "lines]") && !strings.Contains(got, "[pasted") {
		t.Errorf("a chip was cut: %q", got)
	}
}

func TestOff(t *testing.T) {
	e, v := &edit.Editor{}, &Vim{}
	if v.Key(e, "esc", "", Room{Width: 10}) || v.Mode() != "" {
		t.Error("keys are taken although vim is off")
	}
}

// FuzzKeys holds that no keys break the text: it stays valid, with the caret in it.
func FuzzKeys(f *testing.F) {
	f.Add("one two\n漢字", "dwjp3xvey$.uu")
	f.Add("a", "2dd9pyyP.")
	f.Fuzz(func(t *testing.T, text, typed string) {
		if len(text) > 200 || len(typed) > 40 {
			return
		}
		e, v := &edit.Editor{}, &Vim{On: true}
		e.Set(text)
		play(e, v, "<esc>"+typed)
		if at := e.Caret(); at < 0 || at > len(e.Text()) || !utf8.ValidString(e.Text()) || !utf8.ValidString(e.Text()[:at]) {
			t.Errorf("the caret is at %d of %q", at, e.Text())
		}
	})
}
