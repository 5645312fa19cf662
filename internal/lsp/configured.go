package lsp

import (
	"slices"
	"strings"
)

// Setting is what a configuration says about a server, one in the table or one of its own.
type Setting struct {
	ID         string
	Disabled   bool
	Command    []string // nil: as the table says
	Extensions []string // with or without the dot; nil: as the table says
	Env        map[string]string
	Initial    map[string]any
	Unconfined bool // the person lets it use the whole machine
}

// Configure returns the servers of the table as a configuration changes them, and those
// that it adds. With ty set, ty replaces pyright.
func Configure(settings []Setting, ty bool) []Spec {
	specs := slices.DeleteFunc(BuiltIn(), func(s Spec) bool {
		return s.ID == "ty" && !ty || s.ID == "pyright" && ty
	})
	for _, set := range settings {
		i := slices.IndexFunc(specs, func(s Spec) bool { return s.ID == set.ID })
		switch {
		case set.Disabled && i >= 0:
			specs = slices.Delete(specs, i, i+1)
			continue
		case set.Disabled || i < 0 && len(set.Command) == 0:
			continue
		case i < 0:
			i, specs = len(specs), append(specs, Spec{ID: set.ID})
		}
		specs[i].apply(set)
	}
	return specs
}

func (s *Spec) apply(set Setting) {
	if len(set.Command) > 0 {
		s.command, s.config, s.Needs = set.Command, true, ""
	}
	if len(set.Extensions) > 0 {
		words := make([]string, len(set.Extensions))
		for n, ext := range set.Extensions {
			words[n] = strings.TrimPrefix(ext, ".")
		}
		s.Files = strings.Join(words, " ")
	}
	if set.Env != nil {
		s.env = set.Env
	}
	s.unconfined = set.Unconfined
	if set.Initial != nil {
		s.initial = set.Initial
	}
}
