package tui

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// Terminal is where the screen is shown.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	Env []string
}

// Run shows the screen until the person leaves it or the context ends. It returns
// the session that was on screen last, by what the App says.
func Run(ctx context.Context, a *App, t Terminal) error {
	p := tea.NewProgram(a, tea.WithContext(ctx), tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Env),
		tea.WithFPS(30), tea.WithoutSignalHandler())
	follow, stop := context.WithCancel(ctx)
	pm := &pump{send: p.Send}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pm.run(follow, a.engine)
	}()
	_, err := p.Run()
	stop()
	<-done
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// SessionID returns the session on screen, or "" for a new one.
func (a *App) SessionID() string { return string(a.session.ID) }
