package judge

import "slices"

// reach notes that the command uses the network, by the column of its row: always,
// or with some of its commands.
func (x *invocation) reach() {
	if len(x.prog.network) == 0 {
		return
	}
	if x.prog.network[0] == "always" {
		x.reaches(x.base)
		return
	}
	_, operands := x.split()
	switch {
	case len(operands) == 0:
		if slices.Contains(x.prog.network, "alone") {
			x.reaches(x.base)
		}
	case !operands[0].plain():
		x.reaches(x.base)
	case slices.Contains(x.prog.network, operands[0].text):
		x.reaches(x.base + " " + operands[0].text)
	}
}
