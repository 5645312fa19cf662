package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Streamed text is told to the other servers as it is, within a notification: they need
// not ask the database for it, and it is there before it is stored. What was lost, or does
// not fit, they read from the pieces.

const (
	// textChannel is where text is told: the server that tells, the part, where in it the text
	// begins, and the text.
	textChannel = `'lathe$' || current_schema()`
	// withText follows the server in a hint about text that is told in the other channel, too.
	withText = "+"
	// maxLetter is how much text a notification takes, which has 8000 bytes in all, and
	// maxLetters how many a text is told in.
	maxLetter, maxLetters = 7500, 16
	// notCrowded is the condition that those who listen keep up: what they have not heard yet is
	// kept by the database, and if it has no room for more, commits fail.
	notCrowded = `pg_notification_queue_usage() < 0.1`
	// tellWithin is how long text is worth telling that is stored soon anyway.
	tellWithin = time.Second
)

// letters is what textChannel is told; nil if the text cannot be told there.
func (s streams) letters(part lathe.PartID, offset int64, text string) (all []string) {
	if len(text) > maxLetters*maxLetter || !s.utf8.Load() || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return nil
	}
	for text != "" {
		n := min(len(text), maxLetter)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		all = append(all, s.heart.self.ID+" "+string(part)+" "+strconv.FormatInt(offset, 10)+" "+text[:n])
		text, offset = text[n:], offset+int64(n)
	}
	return all
}

// TellText implements [store.Teller].
func (s streams) TellText(ctx context.Context, part lathe.PartID, offset int64, text string) {
	letters := s.letters(part, offset, text)
	if letters == nil || !s.journal.told.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	_, err := s.pool.Exec(ctx, `SELECT pg_notify(`+textChannel+`, l) FROM unnest($3::text[]) l
		WHERE EXISTS (SELECT 1 FROM part p WHERE id = $2 AND open AND `+notAnothers+`) AND `+notCrowded,
		s.heart.self.ID, part, letters)
	if err != nil {
		s.log.Debug("text is told when it is stored", "part", string(part), "err", err)
	}
}

// toldText is text of a part that another server told.
type toldText struct {
	part lathe.PartID
	at   int
	text string
}

// readLetter is the reverse of [streams.letters].
func readLetter(payload string) (origin string, t toldText, ok bool) {
	f := strings.SplitN(payload, " ", 4)
	if len(f) < 4 {
		return "", t, false
	}
	at, err := strconv.Atoi(f[2])
	return f[0], toldText{lathe.PartID(f[1]), at, f[3]}, err == nil && at >= 0
}

// growing is a text of another server that is open.
type growing struct {
	dir     string
	session lathe.SessionID
	message lathe.MessageID
	size    int // of what is known of it
}

// remember notes what is known of a part; one that is closed is forgotten. The caller holds mu.
func (j *journal) remember(dir string, p *lathe.Part) {
	if text, ok := codec.TextOf(p.Body); ok && codec.IsOpen(p.Body) {
		j.open[p.ID] = growing{dir: dir, session: p.SessionID, message: p.MessageID, size: len(text)}
	} else {
		delete(j.open, p.ID)
	}
}

// lose forgets all parts, so that the whole of each is told again: what was read of them was
// not published.
func (j *journal) lose() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.open)
}

// disown forgets the parts that this server tells of itself: it has taken them over.
func (j *journal) disown(facts []store.Fact) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range facts {
		switch ev := f.Event.(type) {
		case lathe.PartUpdated:
			delete(j.open, ev.Part.ID)
		case lathe.PartRemoved:
			delete(j.open, ev.PartID)
		}
	}
}

// add returns the event for text that was told, if it follows what is known of its part; nil
// if there is nothing new in it. ok is false if something is missing before it, or if the part
// is not known.
func (j *journal) add(t toldText) (dir string, ev lathe.Event, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, known := j.open[t.part]
	if !known || t.at > o.size {
		return "", nil, false
	}
	end := t.at + len(t.text)
	if end <= o.size {
		return "", nil, true
	}
	more := t.text[o.size-t.at:]
	o.size = end
	j.open[t.part] = o
	return o.dir, lathe.PartDelta{SessionID: o.session, MessageID: o.message, PartID: t.part, Delta: more, End: end}, true
}
