package emulator

import uv "github.com/charmbracelet/ultraviolet"

// Cells calls see with each cluster that is shown, and how it is drawn.
func (e *Terminal) Cells(see func(x, y int, cluster string, style uv.Style)) {
	for y, row := range e.cells {
		for x, c := range row {
			if c.text != "" && c.text != " " {
				see(x, y, c.text, c.style)
			}
		}
	}
}
