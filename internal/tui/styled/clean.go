package styled

import "lathe/internal/printable"

const tab = "    "

// Clean makes text from models, tools and files safe to show: tabs become blanks,
// carriage returns and other separators become line breaks.
func Clean(text string) string {
	return printable.Text(text, printable.Options{Tab: tab, Return: printable.BreakLine})
}

// Output is Clean for a program's output: overwritten text is dropped, as on a
// terminal.
func Output(text string) string {
	return printable.Text(text, printable.Options{Tab: tab, Return: printable.RewriteLine})
}

// OneLine returns the text clean and on one line.
func OneLine(text string) string { return printable.Line(text) }
