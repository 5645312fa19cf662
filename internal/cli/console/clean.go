package console

import (
	"io"
	"unicode/utf8"
)

// CleanWriter removes what could control a terminal.
type CleanWriter struct {
	To   io.Writer
	rest []byte // beginning of an incomplete character
}

// Write prints text up to its last whole character.
func (w *CleanWriter) Write(p []byte) (int, error) {
	data := append(w.rest, p...)
	n := wholeRunes(data)
	_, err := io.WriteString(w.To, Clean(string(data[:n])))
	w.rest = append([]byte(nil), data[n:]...)
	return len(p), err
}

// Flush prints what is left of the last character.
func (w *CleanWriter) Flush() error {
	_, err := io.WriteString(w.To, Clean(string(w.rest)))
	w.rest = nil
	return err
}

// wholeRunes returns the length of data without a character that is cut at its end.
func wholeRunes(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return i
			}
			break
		}
	}
	return len(data)
}
