package judge

import "strings"

// rewrites records the files that programs change in place or write by an option.
func (x *invocation) rewrites() {
	args := x.args()
	list := x.prog.writes
	if x.base == "git" && len(args) > 0 {
		list = lookup("git " + args[0].text).writes
	}
	for i, f := range args {
		for name := range strings.FieldsSeq(list) {
			if value, ok := optionValue(args, i, name); ok {
				x.writes(value, PathUse{Tree: strings.Contains(name, "dir") || name == "-d" || name == "-D"})
			}
		}
		if in(x.base, "7z 7za") && strings.HasPrefix(f.text, "-o") && len(f.text) > 2 {
			x.writes(field{text: f.text[2:], known: f.known}, PathUse{Tree: true})
		}
	}
	if len(x.prog.rewrites) > 0 {
		opts, operands := permuted(args, "p style indent lang") // not the row's values: yq searches as well
		if has(opts, x.prog.rewrites...) {
			x.writeAll(operands, PathUse{})
		}
	}
	switch x.base {
	case "perl", "ruby":
		editedBy(x, args)
	case "script":
		_, operands := permuted(args, "E I O B T m o c log-out log-in command")
		x.writeAll(operands, PathUse{})
	case "7z", "7za":
		if len(args) > 1 && in(args[0].text, "a u d rn") {
			_, operands := permuted(args[1:], "")
			x.writeAll(operands[:min(1, len(operands))], PathUse{})
			x.readAll(operands[min(1, len(operands)):], PathUse{Dir: true, Tree: true})
		}
	}
}

// editedBy records the files that perl and ruby change in place.
func editedBy(x *invocation, args []field) {
	inPlace, code := false, false
	var operands []field
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if len(text) < 2 || text[0] != '-' || text[1] == '-' {
			operands = append(operands, args[i])
			continue
		}
		for j := 1; j < len(text); j++ {
			if strings.IndexByte("MmIFxeEiCr", text[j]) < 0 { // the others take no value
				continue
			}
			inPlace = inPlace || text[j] == 'i'
			if text[j] == 'e' || text[j] == 'E' {
				code = true
			}
			if j+1 == len(text) && strings.IndexByte("eEIr", text[j]) >= 0 {
				i++
			}
			break
		}
	}
	if !code {
		operands = operands[min(1, len(operands)):]
	}
	if inPlace {
		x.writeAll(operands, PathUse{})
	}
}
