package builtin

import (
	"bytes"
	"fmt"

	"lathe/internal/tool"
)

// since tells the model that a file it read has changed, and where.
func since(c tool.Changed, existed bool) string {
	switch {
	case !existed || !c.Known || !c.Changed:
		return ""
	case c.From == 0:
		return "\nThe file changed since you read it; what you replaced was still there. Read it again before relying on the rest."
	case c.From > c.To:
		return fmt.Sprintf("\nSince you read it, lines were removed before line %d.", c.From)
	case c.From == c.To:
		return fmt.Sprintf("\nSince you read it, line %d changed.", c.From)
	}
	return fmt.Sprintf("\nSince you read it, lines %d to %d changed.", c.From, c.To)
}

// formatted tells the model what a formatter did to what it wrote.
func formatted(written, final []byte) string {
	if bytes.Equal(written, final) {
		return ""
	}
	c := tool.Lines(written).Compare(tool.Lines(final))
	switch {
	case c.From > c.To:
		return fmt.Sprintf("\nThe formatter then removed lines before line %d.", c.From)
	case c.From == c.To:
		return fmt.Sprintf("\nThe formatter then changed line %d.", c.From)
	}
	return fmt.Sprintf("\nThe formatter then changed lines %d to %d.", c.From, c.To)
}
