package styled

import "lathe/internal/printable"

// Clean makes text from models, tools and files safe to show: tabs become blanks up to
// stops four cells apart, carriage returns and other separators become line breaks.
func Clean(text string) string {
	return printable.Text(text, printable.Options{Stops: 4, Return: printable.BreakLine})
}

// Overwriting is how a program's output is made safe: as by Clean, but as on a terminal:
// overwritten text is dropped, and the stops are eight cells apart.
var Overwriting = printable.Options{Stops: 8, Return: printable.RewriteLine}

// OneLine returns the text clean and on one line.
func OneLine(text string) string { return printable.Line(text) }
