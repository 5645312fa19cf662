package instance

import (
	"slices"

	"lathe/internal/tool"
)

// Late names the tools of plugins that became known after the directory's tools were made,
// in order. A window that begins now offers them; one that is open stays as it is.
func (t *Tools) Late() (names []string) {
	for _, one := range t.late() {
		names = append(names, one.Spec().Name)
	}
	return names
}

func (t *Tools) late() (out []tool.Tool) {
	if t.Now == nil {
		return nil
	}
	for _, one := range t.Now() {
		if name := one.Spec().Name; !slices.Contains(t.known, name) {
			out = append(out, one)
		}
	}
	return out
}

// Specs returns what a window that begins now offers, in order.
func (t *Tools) Specs() []tool.Spec {
	if late := t.Late(); late != nil {
		return tool.NewRegistry(t.with(late)...).Specs()
	}
	return t.Registry.Specs()
}

// with returns the directory's tools and those of the late ones that are named. One with
// the name of a built-in tool replaces it.
func (t *Tools) with(names []string) []tool.Tool {
	tools := t.Registry.Tools()
	if len(names) == 0 {
		return tools
	}
	for _, one := range t.late() {
		if slices.Contains(names, one.Spec().Name) {
			tools = withTool(tools, one)
		}
	}
	return tools
}

// withTool adds a tool, in the place of one that has its name.
func withTool(tools []tool.Tool, one tool.Tool) []tool.Tool {
	name := one.Spec().Name
	n := slices.IndexFunc(tools, func(o tool.Tool) bool { return o.Spec().Name == name })
	if n < 0 {
		return append(tools, one)
	}
	tools[n] = one
	return tools
}
