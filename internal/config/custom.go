package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/jsonc"
)

// Types whose form in a file differs from the struct's.

func (a *Autoupdate) decode(d *decoder, v *jsonc.Value, path string) {
	switch {
	case v.Kind == jsonc.Bool:
		*a = Autoupdate(strconv.FormatBool(v.True))
	case v.Kind == jsonc.String && v.Text == "notify":
		*a = "notify"
	default:
		d.fail(v, path, `should be true, false or "notify"`)
	}
}

func (m *Millis) decode(d *decoder, v *jsonc.Value, path string) {
	if v.Kind == jsonc.Bool && !v.True {
		*m = -1
		return
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if v.Kind != jsonc.Number || err != nil || f <= 0 || f > 1e12 {
		d.fail(v, path, "should be a number of milliseconds above 0, or false for no limit")
		return
	}
	*m = Millis(f)
}

func (l *Lasting) decode(d *decoder, v *jsonc.Value, path string) {
	t, err := time.ParseDuration(v.Text)
	if v.Kind != jsonc.String || err != nil || t < 0 {
		d.fail(v, path, `should be a time such as "90s", "30m" or "8h"`)
		return
	}
	*l = Lasting(t)
}

func (r *Reach) decode(d *decoder, v *jsonc.Value, path string) {
	*r = Reach{Set: true}
	switch {
	case v.Kind == jsonc.String && v.Text == "machine":
		r.Machine = true
	case v.Kind == jsonc.String && v.Text == "rules":
	case v.Kind == jsonc.Array:
		d.value(v, path, reflect.ValueOf(&r.Hosts).Elem())
	default:
		d.want(v, path, `"machine", "rules", or a list of hosts`)
	}
}

func (i *Interleaved) decode(d *decoder, v *jsonc.Value, path string) {
	switch v.Kind {
	case jsonc.Bool:
		*i = ""
		if v.True {
			*i = "true"
		}
	case jsonc.String:
		*i = Interleaved(v.Text)
	case jsonc.Object:
		var s struct {
			Field string `conf:"field"`
		}
		d.value(v, path, reflect.ValueOf(&s).Elem())
		*i = Interleaved(s.Field)
	default:
		d.want(v, path, `true or {"field": …}`)
	}
}

func (c *Cost) decode(d *decoder, v *jsonc.Value, path string) {
	if v.Kind != jsonc.Object {
		d.want(v, path, "an object")
		return
	}
	c.Prices = prices(d, v, path)
	if over := v.Get("context_over_200k"); over != nil && over.Kind == jsonc.Object {
		p := prices(d, over, join(path, "context_over_200k"))
		c.Over200K = &p
	}
	tiers := v.Get("tiers")
	if tiers == nil {
		return
	}
	for i, t := range tiers.Items {
		size, _ := strconv.ParseInt(textOf(t.Path("tier", "size")), 10, 64)
		if size > 0 {
			c.Tiers = append(c.Tiers, catalog.Tier{Size: size, Prices: prices(d, t, join(join(path, "tiers"), strconv.Itoa(i)))})
		}
	}
}

func prices(d *decoder, v *jsonc.Value, path string) (p lathe.Prices) {
	for _, f := range []struct {
		key string
		dst *lathe.Price
	}{{"input", &p.Input}, {"output", &p.Output}, {"cache_read", &p.CacheRead}, {"cache_write", &p.CacheWrite}, {"reasoning", &p.Reasoning}} {
		n := v.Get(f.key)
		if n == nil || n.Kind == jsonc.Null {
			continue
		}
		price, err := lathe.ParsePrice(n.Text)
		if n.Kind != jsonc.Number || err != nil {
			d.fail(n, join(path, f.key), "should be a number of dollars for a million tokens")
			continue
		}
		*f.dst = price
	}
	return p
}

func textOf(v *jsonc.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}

func (o *OAuth) decode(d *decoder, v *jsonc.Value, path string) {
	if v.Kind == jsonc.Bool {
		o.Off = !v.True
		return
	}
	d.object(v, path, reflect.ValueOf(o).Elem())
}

func (p *Plugin) decode(d *decoder, v *jsonc.Value, path string) {
	p.Pos = v.Pos()
	switch {
	case v.Kind == jsonc.String && v.Text != "":
		p.Spec = v.Text
	case v.Kind == jsonc.Array && len(v.Items) == 2 && v.Items[0].Kind == jsonc.String && v.Items[1].Kind == jsonc.Object:
		p.Spec, p.Options = v.Items[0].Text, v.Items[1].Map()
	default:
		d.fail(v, path, "should be a name, or a list of a name and options")
	}
}

func (h *Hooks) decode(d *decoder, v *jsonc.Value, path string) {
	if v.Kind != jsonc.Object {
		d.want(v, path, "an object of lists")
		return
	}
	*h = nil
	for _, m := range v.Members {
		at := join(path, m.Key)
		if m.Value.Kind == jsonc.Null {
			continue
		}
		if m.Value.Kind != jsonc.Array {
			d.want(m.Value, at, "a list of objects")
			continue
		}
		for i, e := range m.Value.Items {
			if hook, ok := decodeHook(d, e, join(at, strconv.Itoa(i))); ok {
				hook.Name = m.Key
				*h = append(*h, hook)
			}
		}
	}
}

func decodeHook(d *decoder, v *jsonc.Value, path string) (Hook, bool) {
	var s struct {
		Match   string   `conf:"match"`
		Command []string `conf:"command,required"`
		Timeout float64  `conf:"timeout"`
	}
	before := len(d.issues)
	d.object(v, path, reflect.ValueOf(&s).Elem())
	switch {
	case len(d.issues) > before:
		return Hook{}, false
	case len(s.Command) == 0 || s.Command[0] == "":
		d.fail(v, join(path, "command"), "should be a list that begins with a program")
		return Hook{}, false
	case s.Timeout < 0 || s.Timeout > maxHookTime:
		d.fail(v, join(path, "timeout"), "should be a number of seconds up to %d", maxHookTime)
		return Hook{}, false
	}
	return Hook{Match: s.Match, Command: s.Command, Timeout: s.Timeout, Pos: v.Pos()}, true
}

// maxHookTime is the longest a hook can be given, in seconds.
const maxHookTime = 600

func (f *Formatters) decode(d *decoder, v *jsonc.Value, path string) {
	f.Set, f.On = true, v.Kind != jsonc.Bool || v.True
	if v.Kind != jsonc.Bool {
		d.value(v, path, reflect.ValueOf(&f.Entries).Elem())
	}
}

func (s *Servers) decode(d *decoder, v *jsonc.Value, path string) {
	s.Set, s.On = true, v.Kind != jsonc.Bool || v.True
	if v.Kind != jsonc.Bool {
		d.value(v, path, reflect.ValueOf(&s.Entries).Elem())
	}
}

func (s *Skills) decode(d *decoder, v *jsonc.Value, path string) {
	if v.Kind != jsonc.Array {
		d.object(v, path, reflect.ValueOf(s).Elem())
		return
	}
	var list []string
	d.value(v, path, reflect.ValueOf(&list).Elem())
	for _, e := range list {
		if strings.HasPrefix(e, "http://") || strings.HasPrefix(e, "https://") {
			s.URLs = append(s.URLs, e)
		} else {
			s.Paths = append(s.Paths, e)
		}
	}
}

func (r *Rules) decode(d *decoder, v *jsonc.Value, path string) {
	switch v.Kind {
	case jsonc.String:
		*r = nil
		r.add(d, v, path, "*", "*")
	case jsonc.Object:
		*r = nil
		for _, m := range v.Members {
			at := join(path, m.Key)
			switch m.Value.Kind {
			case jsonc.String:
				r.add(d, m.Value, at, m.Key, "*")
			case jsonc.Object:
				for _, p := range m.Value.Members {
					r.add(d, p.Value, join(at, p.Key), m.Key, expandHome(p.Key, lathe.LiteralPattern(d.home)))
				}
			case jsonc.Null:
			default:
				d.want(m.Value, at, `"allow", "deny", "ask" or an object of patterns`)
			}
		}
	default:
		d.want(v, path, `"allow", "deny", "ask" or an object`)
	}
}

func (r *Rules) add(d *decoder, v *jsonc.Value, path, permission, pattern string) {
	switch a := lathe.Action(v.Text); {
	case v.Kind == jsonc.String && a == lathe.Review && permission == "bash":
		*r = append(*r, lathe.Rule{Permission: permission, Pattern: pattern, Action: a})
	case v.Kind == jsonc.String && a == lathe.Review:
		d.fail(v, path, `"review" is for bash alone: should be "allow", "deny" or "ask"`)
	case v.Kind == jsonc.String && (a == lathe.Allow || a == lathe.Deny || a == lathe.AskMe):
		*r = append(*r, lathe.Rule{Permission: permission, Pattern: pattern, Action: a})
	case v.Kind == jsonc.Null:
	default:
		d.fail(v, path, `should be "allow", "deny" or "ask"`)
	}
}

// expandHome replaces a leading ~ or $HOME of a pattern.
func expandHome(pattern, home string) string {
	if home == "" {
		return pattern
	}
	for _, prefix := range []string{"~", "$HOME"} {
		rest, ok := strings.CutPrefix(pattern, prefix)
		if ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			return filepath.ToSlash(home) + rest
		}
	}
	return pattern
}
