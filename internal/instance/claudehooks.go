package instance

import (
	"context"
	"math"
	"path/filepath"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/plugin"
	"lathe/internal/plugin/claude"
	"lathe/internal/plugin/hookcmd"
)

// claudeAnswers are what the person said of the hooks in Claude Code's settings.
func (p *place) claudeAnswers() *claude.Answers {
	return claude.OpenAnswers(filepath.Join(p.Paths.Data, "claude-hooks.json"))
}

// claudeSettings returns the settings of Claude Code that have something to say of hooks.
func (p *place) claudeSettings() (out []claude.Settings) {
	if p.Config.Flags.DisableClaudeCode {
		return nil
	}
	seen := map[string]bool{}
	for _, file := range claude.Files(p.Paths.Home, checkoutOf(p.Root).Dir) {
		if seen[file.Path] {
			continue // the home directory is the project
		}
		seen[file.Path] = true
		if s := claude.Read(file); len(s.Hooks) > 0 || len(s.Problems) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// ClaudeHooks tells of the hooks in Claude Code's settings, and whether they run.
func (p *place) ClaudeHooks() ([]api.ForeignHooks, error) {
	var out []api.ForeignHooks
	for _, s := range p.claudeSettings() {
		one := api.ForeignHooks{File: s.Path, Digest: s.Digest, Repository: s.Base != "", Problems: s.Problems, Hooks: []api.ForeignHook{}}
		for _, h := range s.Hooks {
			one.Hooks = append(one.Hooks, api.ForeignHook{Event: h.Event, Matcher: h.Matcher, Command: h.Command, Seconds: h.Timeout.Seconds()})
		}
		run, said, err := p.claudeAnswers().Said(s)
		if err != nil {
			return nil, err
		}
		switch {
		case len(s.Hooks) == 0 || s.Digest == "":
			one.State = api.HooksUnusable
		case one.Repository && !p.Trust.Given:
			one.State = api.HooksUntrusted
		case run:
			one.State = api.HooksRun
		case said:
			one.State = api.HooksRefused
		default:
			one.State = api.HooksAsk
		}
		out = append(out, one)
	}
	return out, nil
}

// DecideClaudeHooks keeps what the person says of a file's hooks as they were shown. It
// counts from the next start of the instance.
func (p *place) DecideClaudeHooks(ctx context.Context, in api.HooksDecision) error {
	for _, s := range p.claudeSettings() {
		if s.Path != in.File {
			continue
		}
		switch {
		case s.Digest == "" || s.Digest != in.Digest:
			return lathe.Errorf(lathe.CodeInvalid, "look at them again: lathe plugin hooks", "the hooks in %s have changed since they were shown, or cannot be used", in.File)
		case s.Base != "" && in.Run && !p.Trust.Given:
			return lathe.Errorf(lathe.CodePermission, "if you know it, trust it first: lathe trust", "this repository is not trusted, so its hooks do not run")
		}
		return p.claudeAnswers().Decide(ctx, s, in.Run)
	}
	return lathe.Errorf(lathe.CodeNotFound, "see what there is with: lathe plugin hooks", "there are no hooks in %q", in.File)
}

// claudeHooks returns the hooks that the person agreed to; none is started.
func (i *Instance) claudeHooks(place hookcmd.Place) []plugin.Hooks {
	var agreed []claude.Settings
	for _, s := range i.claudeSettings() {
		if len(s.Hooks) == 0 || s.Base != "" && !i.Trust.Given {
			continue
		}
		run, _, err := i.claudeAnswers().Said(s)
		if err != nil {
			i.troubles.report(claude.Name, err)
		}
		if run {
			agreed = append(agreed, s)
		}
	}
	if agreed == nil {
		return nil
	}
	set := claude.New(agreed, i.claudeOptions(place))
	i.BeforeClose(set.Close)
	return []plugin.Hooks{set.Hooks()}
}

func (i *Instance) claudeOptions(place hookcmd.Place) claude.Options {
	var servers []string
	for _, server := range i.Config.MCP {
		servers = append(servers, server.Name)
	}
	return claude.Options{
		Place: place, Project: checkoutOf(i.Root).Dir,
		Servers: func() []string { return servers },
		Owner:   func(ctx context.Context, id lathe.SessionID) lathe.SessionID { return i.sessions.JobOwner(ctx, id) },
		Begun: func(ctx context.Context, id lathe.SessionID) bool {
			for _, err := range i.sessions.History(ctx, id, math.MaxInt64) {
				return err == nil
			}
			return false
		},
		Messages: func(ctx context.Context, id lathe.SessionID) claude.Messages {
			return i.sessions.History(ctx, id, math.MaxInt64)
		},
		Transcripts: filepath.Join(i.Paths.Cache, "transcripts"),
		Halt: func(id lathe.SessionID) {
			go func() { // the turn that ends waits for the hook
				if err := i.sessions.Abort(context.Background(), id); err != nil {
					i.Log.Warn("a turn that a hook wants to end goes on", "session", id, "err", err)
				}
			}()
		},
		Tell: i.troubles.warn, Report: func(err error) { i.troubles.report(claude.Name, err) },
	}
}
