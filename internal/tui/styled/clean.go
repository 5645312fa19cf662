package styled

import "lathe/internal/printable"

const tab = "    "

// Clean makes text from models, tools and files harmless, as the screen shows it:
// tabs are blanks, carriage returns and other separators line breaks.
func Clean(text string) string {
	return printable.Text(text, printable.Options{Tab: tab, Return: printable.BreakLine})
}

// Output is Clean for what a program wrote: what it wrote over is gone, as on a
// terminal.
func Output(text string) string {
	return printable.Text(text, printable.Options{Tab: tab, Return: printable.RewriteLine})
}

// OneLine returns the text clean and on one line.
func OneLine(text string) string { return printable.Line(text) }
