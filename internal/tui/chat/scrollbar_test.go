package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/look"
	"lathe/internal/tui/markdown"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// plainLook is how a conversation looks on a screen of 80 columns.
func plainLook() look.Look {
	t := theme.Default(true)
	return look.Look{Width: 80, Theme: t, MD: markdown.NewStyles(t, true), Method: styled.WcWidth}
}

// TestThumb holds where the handle of the scroll bar may be.
func TestThumb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(plainLook)
		for i := range rapid.IntRange(1, 30).Draw(t, "messages") {
			m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d", i)), Seq: int64(i + 1), Info: &lathe.Assistant{Finish: lathe.FinishStop, Completed: time.Unix(3, 0)}}
			m.Parts = []lathe.Part{{ID: lathe.PartID("prt_" + m.ID), MessageID: m.ID, Body: &lathe.Text{Text: strings.Repeat("words ", rapid.IntRange(1, 200).Draw(t, "words"))}}}
			c.Load([]lathe.Message{m}, rapid.Bool().Draw(t, "more"))
		}
		height := rapid.IntRange(1, 40).Draw(t, "height")
		c.Resize(height)
		c.move(-rapid.IntRange(0, 300).Draw(t, "by"))
		from, length := c.thumb()
		if length > 0 && (from < 0 || length < 1 || from+length > height) {
			t.Fatalf("the handle has %d+%d of %d", from, length, height)
		}
		if length > 0 && (from+length == height) != c.Following() && length < height-8 && from+length != height {
			t.Fatalf("the handle ends at %d of %d, following %v", from+length, height, c.Following())
		}
	})
}

// TestTimeOfAFoundTurn holds that a screen which comes later tells the time of the
// turn, not its own.
func TestTimeOfAFoundTurn(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := New(plainLook)
	if got := c.Shown().Begun(now); !got.Equal(now) {
		t.Errorf("an empty one begun at %v", got)
	}
	asked := now.Add(-42 * time.Second)
	c.Load([]lathe.Message{{ID: "msg_1", Seq: 1, Info: &lathe.User{}, Created: asked}}, false)
	if got := c.Shown().Begun(now); !got.Equal(asked) {
		t.Errorf("begun at %v, want %v", got, asked)
	}
}
