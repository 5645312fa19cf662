package engine

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// Access is how the rooms of a screen reach the engine.
type Access struct {
	Engine
	Able Capabilities
	ctx  context.Context
}

// Reach returns the access to an engine, for as long as the context lasts.
func Reach(ctx context.Context, e Engine) *Access { return &Access{e, e.Can(), ctx} }

// During replaces the context: what is begun from now on ends with it.
func (a *Access) During(ctx context.Context) { a.ctx = ctx }

// Context returns the context that calls are made with.
func (a *Access) Context() context.Context { return a.ctx }

// Do returns a command that calls the engine in the background.
func (a *Access) Do(call func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return call(a.ctx) }
}
