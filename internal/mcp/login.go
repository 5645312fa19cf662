package mcp

import (
	"context"
	"errors"
	"time"

	"lathe"
	"lathe/internal/shell"
)

// Login begins the login to a server and returns its address.
func (s *Servers) Login(ctx context.Context, name string) (*Login, error) {
	srv, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if s.o.Logins == nil {
		return nil, ErrNoLogin
	}
	return s.o.Logins.Begin(ctx, srv.conf)
}

// FinishLogin gives the pending login the browser's answer, and connects.
func (s *Servers) FinishLogin(ctx context.Context, name, answer string) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	f := s.o.Logins.Pending(name)
	if f == nil {
		return errors.New("no login of this server is under way")
	}
	if err := f.Finish(ctx, answer); err != nil {
		return err
	}
	return srv.loggedIn(ctx)
}

// AwaitLogin waits for a pending login, and connects.
func (s *Servers) AwaitLogin(ctx context.Context, name string, f *Login) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	if err := f.Wait(ctx); err != nil {
		return err
	}
	return srv.loggedIn(ctx)
}

func (s *server) loggedIn(ctx context.Context) error {
	s.restart()
	_, err := s.connect(ctx, true)
	return err
}

// Logout forgets the login of a server and ends its connection.
func (s *Servers) Logout(name string) error {
	srv, err := s.find(name)
	if err != nil {
		return err
	}
	if s.o.Logins == nil {
		return nil
	}
	if err := s.o.Logins.Forget(srv.conf); err != nil {
		return err
	}
	if srv.conf.Type == "remote" {
		srv.restart()
	}
	return nil
}

// LoginState says whether there is a login for a server.
func (s *Servers) LoginState(name string) string {
	srv, err := s.find(name)
	if err != nil || s.o.Logins == nil {
		return NotLoggedIn
	}
	return s.o.Logins.State(srv.conf)
}

// browserTime is how long to wait for a browser's program to fail.
const browserTime = 500 * time.Millisecond

// OpenBrowser opens a login's address in the browser, and returns whether that worked as
// far as is soon known. If it fails, now or later, an event says so, and the login keeps
// waiting.
func (s *Servers) OpenBrowser(name string, f *Login) bool {
	args := shell.Opener(f.URL)
	p, err := s.o.Open(shell.Program{Args: args, Dir: s.o.Dir, Env: s.o.Env, Kind: shell.KindTerminal}) // the person's own browser: nothing confines it
	opened := make(chan bool, 1)
	end := func(well bool) {
		if !well && s.o.Publish != nil {
			s.o.Publish(lathe.MCPBrowserFailed{Server: name, URL: f.URL})
		}
		opened <- well
	}
	if err != nil {
		end(false)
		return false
	}
	s.wg.Go(func() {
		select {
		case <-p.Done():
			exit, _ := p.Exit()
			end(exit.Code == 0)
		case <-s.ctx.Done():
			p.Stop(grace)
		}
		_, _ = p.Stdin.Close(), p.Stdout.Close()
	})
	timer := time.NewTimer(browserTime)
	defer timer.Stop()
	select {
	case well := <-opened:
		return well
	case <-timer.C:
	case <-s.ctx.Done():
	}
	return true
}

// PendingLogin returns the login to a server that is in progress; nil if there is none.
func (s *Servers) PendingLogin(name string) *Login {
	if s.o.Logins == nil {
		return nil
	}
	return s.o.Logins.Pending(name)
}
