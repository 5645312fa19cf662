package styled

import "lathe/internal/printable"

const tab = "    "

// Clean makes text from models, tools and files safe to show: tabs become blanks,
// carriage returns and other separators become line breaks.
func Clean(text string) string {
	return printable.Text(text, printable.Options{Tab: tab, Return: printable.BreakLine})
}

// Overwriting is how a program's output is made safe: as by Clean, but overwritten text is
// dropped, as on a terminal.
var Overwriting = printable.Options{Tab: tab, Return: printable.RewriteLine}

// OneLine returns the text clean and on one line.
func OneLine(text string) string { return printable.Line(text) }
