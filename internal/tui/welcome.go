package tui

import (
	"lathe"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// welcome is what an empty session shows.
func (v *view) welcome(height int) []styled.Line {
	l := v.pane()
	muted, accent := l.FG(theme.Muted), l.FG(theme.Accent)
	out := []styled.Line{nil, {{Text: "   lathe ", Style: l.FG(theme.Primary, styled.Bold)}, {Text: lathe.Version, Style: muted}}, nil}
	row := func(key, text string) {
		if key != "" {
			out = append(out, append(styled.Plain("   "+key, accent).Pad(16, l.Method, ""), styled.Span{Text: l.T(text), Style: muted}))
		}
	}
	tell := func(text string, key theme.Key) {
		if text == "" {
			return
		}
		out = append(out, nil)
		for _, line := range styled.Wrap(styled.Plain(l.T(styled.OneLine(text)), l.FG(key)), l.Width-6, l.Method) {
			out = append(out, append(styled.Line{{Text: "   "}}, line...))
		}
	}
	if !v.prefs.NoTips {
		row("enter", "send what you wrote")
		row("@", "name a file, a directory or an agent")
		row("/", "commands")
		row("!", "run a shell command")
		row(v.keys.For(keys.AgentNext), "next agent")
		row(v.keys.For(keys.Models), "choose a model")
		row(v.keys.For(keys.Sessions), "earlier sessions")
		row(v.keys.For(keys.Help), "all keys")
	}
	if v.choice.Current().Provider == "offline" {
		tell("No model is connected, so the offline guide answers: a set of rules, not a language model. Connect one with /connect, or a key in the environment.", theme.Warning)
	}
	tell(v.setup.Found(), theme.Info)
	for _, n := range v.opts.Notices {
		tell(n, theme.Warning)
	}
	out = append(out, v.recents(l)...)
	for i, line := range out {
		out[i] = line.Cut(l.Width, l.Method)
	}
	return out[:min(len(out), height)]
}
