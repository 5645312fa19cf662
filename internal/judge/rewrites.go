package judge

import "strings"

// rewrites records the files that programs change in place or write by an option.
func (x *invocation) rewrites() {
	args := x.args()
	list := writeOptions(x.base)
	if x.base == "git" && len(args) > 0 {
		list = map[string]string{"apply": "--directory", "checkout-index": "--prefix"}[args[0].text]
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
	switch x.base {
	case "perl", "ruby":
		x.editedBy(args)
	case "yq", "shfmt", "clang-format":
		opts, operands := permuted(args, "p style indent lang")
		if has(opts, "-i", "--inplace", "--in-place", "-w", "--write") {
			x.writeAll(operands, PathUse{})
		}
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

// writeOptions lists the options of a program whose value is a file or directory
// that it writes.
func writeOptions(name string) string {
	switch name {
	case "rsync":
		return "--log-file --backup-dir --partial-dir --temp-dir"
	case "cp", "mv", "ln", "install", "gcp", "gmv":
		return "--target-directory"
	case "openssl":
		return "-out"
	case "gpg", "gpg2", "age":
		return "-o --output"
	case "zstd", "unzstd":
		return "-o"
	case "csplit":
		return "-f --prefix"
	case "patch":
		return "-o --output -d --directory -r --reject-file"
	case "cpio":
		return "-D --directory"
	case "ssh-keygen":
		return "-f"
	case "curl":
		return "--etag-save --hsts --alt-svc"
	case "wget":
		return "--warc-file"
	}
	return ""
}

// editedBy records the files that perl and ruby change in place.
func (x *invocation) editedBy(args []field) {
	inPlace, code := false, false
	var operands []field
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if len(text) < 2 || text[0] != '-' || text[1] == '-' {
			operands = append(operands, args[i])
			continue
		}
		for j := 1; j < len(text); j++ {
			if strings.IndexByte("MmIFxeEiCr", text[j]) < 0 { // the others take nothing after them
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
