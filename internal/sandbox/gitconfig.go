package sandbox

import (
	"slices"
	"strings"
)

// executesMore reports whether a configuration of git makes it execute, read or reach
// something that it did not before. A submodule's configuration says where its files
// are.
func executesMore(before, after []byte, submodule bool) bool {
	old := gitSettings(before)
	return slices.ContainsFunc(gitSettings(after), func(s setting) bool {
		if submodule && s.section == "core" && s.key == "worktree" && strings.HasPrefix(s.value, "../") {
			return false
		}
		return s.executes() && !slices.Contains(old, s)
	})
}

type setting struct{ section, sub, key, value string }

// harmlessKeys are settings of sections that otherwise count: what git and its everyday
// commands write there themselves.
var harmlessKeys = map[string]string{
	"core":      "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf safecrlf eol sparsecheckout sparsecheckoutcone longpaths untrackedcache commentchar quotepath abbrev whitespace compression splitindex",
	"remote":    "url fetch pushurl push prune tagopt mirror promisor partialclonefilter skipdefaultupdate skipfetchall",
	"submodule": "url active branch ignore path fetchrecursesubmodules shallow recurse",
	"merge":     "conflictstyle ff stat log renames renamelimit directoryrenames",
	"diff":      "renames renamelimit algorithm colormoved mnemonicprefix noprefix context submodule ignoresubmodules",
	"gpg":       "format",
	"http":      "postbuffer sslverify version maxrequests lowspeedlimit lowspeedtime",
}

// harmlessSections are those in which nothing names a program, file or address that git
// acts on.
const harmlessSections = "branch user author committer extensions init push pull fetch rebase color advice status log gc pack index feature lfs commit tag rerere apply " +
	"am blame checkout column clone format grep maintenance notes receive stash versionsort worktree i18n transfer fsck"

// executes reports whether a setting may be harmful, that is, is not known to be harmless.
func (s setting) executes() bool {
	if s.section == "filter" && s.sub == "lfs" {
		return s.key != "required" && !strings.HasPrefix(s.value, "git-lfs ")
	}
	keys, counted := harmlessKeys[s.section]
	if counted {
		return !slices.Contains(strings.Fields(keys), s.key) || s.section == "remote" && strings.Contains(s.value, "::")
	}
	switch s.section + "." + s.key {
	case "init.templatedir", "fetch.bundleuri", "commit.template", "format.signaturefile", "blame.ignorerevsfile", "rebase.instructionformat":
		return true
	}
	return !slices.Contains(strings.Fields(harmlessSections), s.section)
}

// gitSettings reads a configuration as git does, as far as sections and keys go.
func gitSettings(text []byte) (all []setting) {
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\\\n", "")
	section, sub := "", ""
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		for strings.HasPrefix(line, "[") {
			head, rest, ok := cutSection(line)
			if !ok {
				return append(all, setting{section: line}) // git would not read it either
			}
			name, quoted, _ := strings.Cut(head, `"`)
			section, sub = strings.ToLower(strings.TrimSpace(name)), strings.TrimSuffix(quoted, `"`)
			if before, after, dotted := strings.Cut(section, "."); dotted {
				section, sub = before, after
			}
			line = strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		all = append(all, setting{section, sub, strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)})
	}
	return all
}

// cutSection splits "[section "sub"] rest" at the bracket that closes it.
func cutSection(line string) (head, rest string, ok bool) {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			return line[1:i], line[i+1:], true
		}
	}
	return "", "", false
}
