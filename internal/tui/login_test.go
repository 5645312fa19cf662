package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/paint/emulator"
)

// loginFake is a plugin that logs in to acme in each way that there is.
type loginFake struct {
	calls []string
	err   error         // of the end of a login
	begun chan struct{} // closed by the end of a login that waits for the browser; nil: it is done at once
	left  chan error    // why that waiting ended
}

func (f *loginFake) LoginMethods(context.Context) (map[string][]api.LoginMethod, error) {
	kind := api.LoginPrompt{Type: "select", Key: "kind", Message: "Which GitHub?"}
	kind.Options = append(kind.Options, struct{ Label, Value, Hint string }{"github.com", "public", "for most"}, struct{ Label, Value, Hint string }{"Enterprise", "own", "漢字\x1b[2J"})
	address := api.LoginPrompt{Type: "text", Key: "url", Message: "Its address", Placeholder: "git.acme.test"}
	address.When = &struct{ Key, Op, Value string }{"kind", "eq", "own"}
	return map[string][]api.LoginMethod{
		"acme": {
			{Type: "oauth", Label: "Account", Prompts: []api.LoginPrompt{kind, address}, Authorizes: true},
			{Type: "oauth", Label: "Device", Authorizes: true},
			{Type: "api", Label: "Made key", Authorizes: true, Prompts: []api.LoginPrompt{{Type: "text", Key: "team", Message: "Team"}}},
			{Type: "api", Label: "Own key"},
		},
		"github-copilot": {{Type: "oauth", Label: "Copilot", Authorizes: true}},
	}, nil
}

func (f *loginFake) BeginProviderLogin(_ context.Context, provider string, method int, inputs map[string]string) (api.LoginBegun, error) {
	f.calls = append(f.calls, fmt.Sprint("begin ", provider, " ", method, " ", inputs))
	switch method {
	case 0:
		return api.LoginBegun{URL: "https://acme.test/login?a=1", Method: "code", Instructions: "paste the code\nof the page"}, nil
	case 1:
		return api.LoginBegun{URL: "https://acme.test/device", Method: "auto", Instructions: "enter ABCD-1234\x1b[2J"}, nil
	}
	return api.LoginBegun{}, nil
}

func (f *loginFake) EndProviderLogin(ctx context.Context, provider string, method int, code string) error {
	if f.begun != nil {
		close(f.begun)
		<-ctx.Done()
		f.left <- context.Cause(ctx)
		return ctx.Err()
	}
	f.calls = append(f.calls, fmt.Sprint("end ", provider, " ", method, " ", code))
	return f.err
}

func connectAcme(t *testing.T) (*driver, *loginFake) {
	f := &loginFake{}
	d, _ := ableTo(t, Options{})
	d.app.access.Able.Logins = f
	d.typed("/connect")
	d.press("esc", "enter")
	d.typed("acme")
	d.press("enter")
	d.shows("log in to Acme", "Account", "Device", "Made key", "Own key")
	return d, f
}

// A plugin's login asks its questions, shows the address, and takes the code.
func TestLoginWithCode(t *testing.T) {
	d, f := connectAcme(t)
	d.press("enter")
	d.shows("Which GitHub?", "github.com", "漢字")
	d.harmless()
	d.press("down", "enter")
	d.shows("Its address", "for example: git.acme.test")
	d.typed("git.own")
	d.press("enter")
	d.shows("log in to Acme", "https://acme.test/login?a=1", "paste the code", "of the page")
	d.press("enter") // without a code nothing is sent
	d.shows("https://acme.test/login?a=1")
	d.press("tab")
	d.shows("copied the address")
	d.send(tea.PasteMsg{Content: " good 漢\n"})
	d.press("enter")
	want := []string{"begin acme 0 map[kind:own url:git.own]", "end acme 0 good 漢"}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	d.shows("logged in to Acme", "models")
	d.hides("https://acme.test")
}

// What does not apply is not asked, and a login that fails is told.
func TestLoginThatFails(t *testing.T) {
	d, f := connectAcme(t)
	f.err = lathe.Errorf(lathe.CodeAuth, "try again, or another method", "the login to acme did not work: no")
	d.press("enter", "enter")
	d.typed("bad")
	d.press("enter")
	if diff := cmp.Diff([]string{"begin acme 0 map[kind:public]", "end acme 0 bad"}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	d.shows("the login to acme did not work: no", "try again, or another method")
	d.hides("https://acme.test")
}

// A method may need no browser, or no more than a key.
func TestLoginWithoutBrowser(t *testing.T) {
	d, f := connectAcme(t)
	d.press("down", "down", "enter")
	d.shows("Team")
	d.typed("blue")
	d.press("enter")
	d.shows("logged in to Acme", "models")
	if diff := cmp.Diff([]string{"begin acme 2 map[team:blue]"}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	d, f = connectAcme(t)
	d.press("up", "enter")
	d.shows("key for Acme")
	if f.calls != nil {
		t.Errorf("calls %v", f.calls)
	}
	// A provider that has no keys is offered once a plugin logs in to it.
	d, _ = ableTo(t, Options{})
	d.app.access.Able.Logins = &loginFake{}
	d.typed("/connect")
	d.press("esc", "enter")
	d.typed("copilot")
	d.press("enter")
	d.shows("log in to GitHub Copilot", "Copilot", "in the browser, by a plugin")
}

// loginEngine is an engine whose plugins log in.
type loginEngine struct {
	*ableFake
	logins *loginFake
}

func (e loginEngine) Can() engine.Capabilities {
	c := e.ableFake.Can()
	c.Logins = e.logins
	return c
}

// While the browser has a part in a login, the screen says what to do, and esc ends the
// waiting.
func TestLoginWaitsForTheBrowser(t *testing.T) {
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := &loginFake{begun: make(chan struct{}), left: make(chan error, 1)}
	out := &lockedEmulator{Terminal: emulator.New(80, 24)}
	done := make(chan error, 1)
	app := New(context.Background(), Options{Engine: loginEngine{newAble(), f}, Start: Start{Session: "ses_1"}})
	go func() {
		done <- Run(context.Background(), app, Terminal{In: r, Out: out, Env: xterm, Width: 80, Height: 24})
	}()
	step := func(keys, shows string) {
		t.Helper()
		if _, err := io.WriteString(in, keys); err != nil {
			t.Fatal(err)
		}
		out.waitFor(t, shows)
	}
	out.waitFor(t, "A title") // the session is read
	step("/connect", "connect a provider")
	step("\r", "enter choose · type to search")
	step("acme", "Acme")
	step("\r", "log in to Acme")
	step("\x1b[B", "Device")
	step("\r", "waiting for the browser")
	out.waitFor(t, "Open https://acme.test/device")
	out.waitFor(t, "enter ABCD-1234")
	<-f.begun
	step("\x1b[27u", "ask anything")
	if err := <-f.left; err != context.Canceled {
		t.Errorf("the waiting ended with %v", err)
	}
	if _, err := io.WriteString(in, "\x18q"); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
