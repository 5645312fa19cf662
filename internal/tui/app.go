package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/about"
	"lathe/internal/tui/ask"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/editor"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/jobs"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/marks"
	"lathe/internal/tui/modes"
	"lathe/internal/tui/plugins"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/review"
	"lathe/internal/tui/servers"
	"lathe/internal/tui/sessions"
	"lathe/internal/tui/setup"
	"lathe/internal/tui/side"
	"lathe/internal/tui/start"
	"lathe/internal/tui/style"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
	"lathe/internal/tui/undoing"
	"lathe/internal/tui/worktrees"
)

// Options configure an [App]. Engine is needed.
type Options struct {
	Engine engine.Engine
	Desk   Desk
	Start
	Now    func() time.Time
	Dir    string // as it is shown
	Branch func() string
	User   string // what the person is called

	Say    say.Language      // that the screen speaks
	Theme  string            // empty: by the terminal's background
	Themes []*theme.Theme    // in addition to the built-in ones
	Keys   map[string]string // as configured
	Leader time.Duration     // how long the leader key waits; 2 s
	ASCII  bool              // no unicode
	Scroll int               // lines that the wheel moves; 3
	// Stacked draws changes in one column even on a wide screen.
	Stacked bool
	Mouse   bool
	Inline  bool // do not use the terminal's alternate screen

	// Prefs is what the screen remembers; SavePrefs keeps it and may be nil.
	Prefs     prefs.Prefs
	SavePrefs func(prefs.Prefs) error
	// Server is where the engine runs, if not in this process.
	Server string
}

// Start is what the screen begins with.
type Start struct {
	Session lathe.SessionID // to open; empty: a new one
	Agent   string
	Model   lathe.ModelRef
	Prompt  string   // to send at once
	Notices []string // shown at the start
	// LastModel starts with the model of the previous run, unless one is configured.
	LastModel bool
	// Review opens the changes of the session at once.
	Review bool
}

// App is the screen: the view, and what happens to it. It is a tea.Model; only its loop
// may touch it. It puts the rooms together: it passes them messages and does what they
// ask for.
type App struct {
	view
	focused bool
	dirty   bool // something changed since the last frame
	// elsewhere is the worktree that the screen is left for.
	elsewhere *worktrees.GoOn
}

// rooms are the parts of the screen that have a state of their own.
type rooms struct {
	conv     *chat.Conversation
	mouse    pointer
	flowed   chat.Flow // of the inline screen
	input    *compose.Composer
	choice   *choice.Choice
	sessions *sessions.Room
	jobs     *jobs.Room
	servers  *servers.Room
	plugins  *plugins.Room
	modes    *modes.Room
	undoing  *undoing.Room
	review   *review.Room
	setup    *setup.Room
	start    *start.Room
	marks    *marks.Room
	about    *about.Room
	side     *side.Bar
	style    *style.Style
}

// visit is what is known about the session on screen, and about the engine. It
// reads and sends; what comes back is a message.
type visit struct {
	access  *engine.Access
	session lathe.Session // zero ID: none yet
	status  map[lathe.SessionID]lathe.Status
	since   time.Time // when the session on screen became busy
	todos   []lathe.Todo
	sending int
	branch  string
	budget  budgetMsg                  // of the session that it names
	looked  bool                       // whether it was looked for what could answer
	undoOff map[lathe.SessionID]string // why changes cannot be undone
	link    engine.Link
	lost    bool // the engine cannot be reached

	opening   lathe.SessionID
	reads     int
	goal      lathe.MessageID  // to jump to when it is read
	meanwhile []lathe.Envelope // events of the session that is being opened, kept until it is read
}

// pace keeps time running while something moves.
type pace struct {
	ticking bool
	due     time.Time                   // when the tick comes that is waited for
	ticks   int                         // its number
	after   func(time.Duration) tea.Cmd // sends a tickMsg
}

// New returns the screen. Its commands end when the context does.
func New(ctx context.Context, o Options) *App {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Scroll <= 0 {
		o.Scroll = 3
	}
	if o.Leader <= 0 {
		o.Leader = 2 * time.Second
	}
	a := &App{
		focused: true,
		view: view{
			opts:  o,
			visit: visit{access: engine.Reach(ctx, o.Engine), status: map[lathe.SessionID]lathe.Status{}, undoOff: map[lathe.SessionID]string{}},
			prefs: prefs.NewBook(o.Prefs, o.SavePrefs),
		},
	}
	a.conv = chat.New(func() look.Look { return a.pane() })
	a.mouse.Files = len(o.Desk.Editor) > 0
	a.after = func(d time.Duration) tea.Cmd { return wake(a.access, d) }
	a.choice = choice.New(a, a.access, a.prefs, o.LastModel)
	a.input = compose.New(a, a.access, a.choice, o.Desk.Memory, o.Desk.Clipboard, o.Desk.Editor, a.commandOffers)
	a.input.Vi(o.Prefs.Vim)
	a.side = side.New(a, a.access)
	a.about = about.New(a, a.access)
	a.sessions = sessions.New(a, a.access, sessions.Files{Write: o.Desk.WriteFile, Editor: o.Desk.Editor})
	a.jobs = jobs.New(a.access)
	a.servers = servers.New(a.access)
	a.plugins = plugins.New(a.access)
	a.modes = modes.New(a.access)
	a.undoing = undoing.New(a, a.access, &a.input.Editor)
	a.review = review.New(a.access)
	a.setup = setup.New(a, a.access, a.choice, a.prefs)
	a.start, a.marks = start.New(a, a.access, a.prefs), marks.New(a, a.access)
	a.choice.Begin(o.Agent, o.Model)
	a.sheets.Now = o.Now
	var problems []string
	a.keys, problems = keys.New(o.Keys)
	a.look = look.Look{Width: 80, Say: o.Say, ASCII: o.ASCII, Times: o.Prefs.Times, Name: shownName(o), Stacked: o.Stacked, Flowing: o.Inline, Method: styled.WcWidth}
	a.look.Child, a.look.Back = a.keys.For(keys.ChildNext), a.keys.For(keys.Parent)
	a.height = 24
	style, problem := style.New(&a.look, a.prefs, o.Themes, o.Theme)
	if a.style = style; problem != "" {
		problems = append(problems, problem)
	}
	a.opts.Notices = append(slices.Clone(o.Notices), problems...)
	for i, n := range a.opts.Notices {
		a.opts.Notices[i] = look.InScreen(n)
	}
	if n := len(a.opts.Notices); n > 0 && o.Session != "" {
		a.notify(dialog.Warning, a.opts.Notices[n-1])
	}
	if o.Session == "" && o.Prompt == "" {
		a.input.Begin("")
	}
	if o.Branch != nil {
		a.branch = o.Branch()
	}
	return a
}

// Init begins: it looks at what there is to choose from and opens the session.
func (a *App) Init() tea.Cmd {
	cmds := []tea.Cmd{a.choice.Load(), a.loadWaiting(a.sheets.waitingIDs()), a.setup.Trust(a.opts.Now), a.servers.Ask(a.opts.Now), a.plugins.Ask(a.opts.Now)}
	if a.opts.Session != "" {
		if a.opts.Prompt == "" && !a.opts.Review {
			a.start.Continue(a.opts.Session)
		}
		cmds = append(cmds, a.open(a.opts.Session))
	}
	if a.opts.Session == "" && a.opts.Prompt == "" {
		cmds = append(cmds, a.start.Load())
	}
	if a.opts.Prompt != "" {
		a.input.Set(a.opts.Prompt)
		if a.opts.Session == "" {
			cmds = append(cmds, a.submit())
		}
	}
	return tea.Batch(cmds...)
}

// Messages from commands.
type (
	openedMsg struct {
		id      lathe.SessionID
		read    int // number of this reading; only the newest counts
		session lathe.Session
		history []lathe.Message
		more    bool
		todos   []lathe.Todo
		status  lathe.Status
		mode    lathe.ApprovalMode
		err     error
	}
	olderMsg struct {
		id      lathe.SessionID
		history []lathe.Message
		more    bool
		err     error
	}
	waitingMsg struct {
		asks      []lathe.Ask
		questions []lathe.QuestionAsk
		shown     []lathe.AskID // what was on screen when they were read
	}
	sentMsg struct {
		session lathe.Session
		before  edit.Editor // what was sent, to bring back
		err     error
	}
	doneMsg struct {
		text string
		err  error
		then func(a *App) tea.Cmd
	}
	tickMsg struct{ n int } // its number; 0: of nothing but time passing
)

// Update handles a message.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return a, a.keyboard.key(a, m)
	case tea.PasteMsg:
		return a, a.paste(m.Content)
	case tea.ClipboardMsg:
		return a, a.paste(m.Content)
	case Events:
		return a, a.events(m)
	case tea.WindowSizeMsg:
		a.widen(func() { a.look.Width, a.height = max(m.Width, 20), max(m.Height, 6) })
		a.input.Resize(a.look.Width, a.look.Method)
		return a, a.loadSide()
	case tea.MouseWheelMsg, tea.MouseClickMsg, tea.MouseMotionMsg, tea.MouseReleaseMsg:
		return a, a.mouse.mouseEvent(a, m)
	case tea.ModeReportMsg, tea.BackgroundColorMsg, tea.FocusMsg, tea.BlurMsg:
		a.terminal(m)
	case tickMsg:
		if m.n == a.ticks { // an earlier one was replaced by one that comes sooner
			a.ticking = false
		}
		a.toast.expire(a.opts.Now())
		return a, a.tick()
	default:
		return a, a.apply(msg)
	}
	return a, nil
}

// terminal handles what the terminal reports about itself.
func (a *App) terminal(msg tea.Msg) {
	switch m := msg.(type) {
	case tea.ModeReportMsg:
		if m.Mode == ansi.ModeUnicodeCore && m.Value != ansi.ModeNotRecognized && m.Value != ansi.ModePermanentlyReset {
			a.look.Method = styled.Grapheme
			a.input.Resize(a.look.Width, a.look.Method)
		}
	case tea.BackgroundColorMsg:
		a.style.Background(m.IsDark())
	case tea.FocusMsg:
		a.focused = true
	case tea.BlurMsg:
		a.focused = false
	}
}

// result handles what a command brought back.
func (a *App) result(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case openedMsg:
		return a.opened(m)
	case olderMsg:
		if m.id == a.session.ID {
			a.conv.Extend(m.history, m.more, m.err)
		}
		return tea.Batch(a.conv.LoadPictures(), a.toGoal())
	case choice.Listed:
		a.choice.Take(m)
		a.fail(m.Err)
		var cmds []tea.Cmd
		if !a.looked {
			a.looked = true
			if a.opts.Session == "" && a.opts.Prompt == "" && a.opts.Model.IsZero() {
				cmds = append(cmds, a.setup.Begin())
			}
		}
		cmds = append(cmds, a.apply(a.input.Again()))
		return tea.Batch(cmds...)
	case worktrees.GoOn:
		return leaveFor(a, m)
	case budgetMsg:
		a.budget = m
	case branchMsg:
		a.branch = string(m)
	case waitingMsg:
		a.sheets.settle(m)
		for _, q := range m.asks {
			a.sheets.asked(q, a.session.ID)
		}
		for _, q := range m.questions {
			a.sheets.questioned(q, a.session.ID)
		}
	case sentMsg:
		return a.sent(m)
	case chat.Older:
		return a.visit.older(m)
	case choice.ShowModels:
		return a.apply(a.choice.ShowModels(m.Provider))
	case choice.Connect:
		if a.busy() || len(a.status) > 0 {
			a.notify(dialog.Warning, "a turn is running; connect a provider when it is done")
			return a.tick()
		}
		return a.apply(a.setup.Connect())
	case setup.Began:
		if a.setup.Take(m.Found) && a.input.Empty() && a.session.ID == "" && a.sheets.Top() == nil {
			return a.apply(a.setup.OfferOnce(m.Found))
		}
	case setup.Offered:
		return a.apply(a.setup.Offer(m.Found))
	case setup.Trusted:
		return a.trusted()
	case servers.Imported:
		return a.choice.Load()
	case chat.OpenSession:
		return a.open(m.ID)
	case chat.EditFile:
		return a.apply(editor.Open(a.opts.Desk.Editor, m.Name))
	case chat.Undo:
		return a.apply(a.undoing.To(m.Message))
	case chat.Fork:
		return a.apply(a.sessions.Fork(a.session.ID, m.Message, a.conv.Written(m.Message)))
	case sessions.Forked:
		if m.Draft.Text != "" {
			draft := edit.Editor{}
			draft.Above(m.Draft)
			a.input.Leave(m.Session, draft)
		}
		return a.open(m.Session)
	case sessions.Found:
		cmd := a.open(m.Session)
		a.goal = m.Message
		return cmd
	case modes.Changed:
		return tea.Batch(a.apply(a.modes.Done(m)), a.tick())
	case ask.Reply:
		return a.reply(m)
	case ask.Answers:
		return a.answer(m)
	case ask.Dismissed:
		return a.dismiss(m)
	case chat.PictureMsg:
		return a.conv.Pictured(m)
	case doneMsg:
		a.fail(m.err)
		if m.err == nil && m.text != "" {
			a.notify(dialog.Info, m.text)
		}
		if m.then != nil && m.err == nil {
			return m.then(a)
		}
		return a.tick()
	default:
		if a.undoing.Take(msg) {
			return a.tick()
		}
		return a.reviews(msg)
	}
	return nil
}

// do runs something that takes time, and then what follows from it.
func (a *App) do(text string, fn func(ctx context.Context) error) tea.Cmd {
	return func() tea.Msg { return doneMsg{text: text, err: fn(a.access.Context())} }
}

// fail shows an error. That the program is ending is not an error.
func (v *view) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	text := err.Error()
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		text += " — " + e.Hint
	}
	v.notify(dialog.Failure, look.InScreen(text))
}

// apply does what a sheet or a command wants done. It is the only way for them
// to affect anything outside themselves.
func (a *App) apply(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case nil:
	case tea.Cmd:
		return m
	case func() tea.Msg: // the same type without its name
		return m
	case dialog.All:
		var cmds []tea.Cmd
		for _, one := range m {
			cmds = append(cmds, a.apply(one))
		}
		return tea.Batch(cmds...)
	case dialog.Open:
		return a.apply(a.sheets.Open(m.Sheet))
	case dialog.Close:
		a.sheets.Close(m.Sheet)
	case dialog.Wait:
		a.sheets.Wait(m.Sheet)
	case dialog.Tell:
		a.notify(m.Kind, m.Text)
		return a.tick()
	case dialog.Copy:
		return a.copy(m.Text, m.Said)
	case compose.Submit:
		return a.submit()
	case compose.Writing:
		a.sheets.Typed()
	case dialog.While:
		if a.sheets.Top() == m.Sheet {
			return a.apply(m.Then)
		}
	case dialog.Here:
		return a.apply(m())
	case dialog.Hush:
		a.toast = toast{}
	case dialog.Answer:
		return a.keyboard.held.hold(a, m)
	case dialog.Words:
		return a.write(m.Text)
	case aloneMsg:
		return a.keyboard.held.alone(a, int(m))
	case dialog.Scroll:
		return a.keyboard.scrollKey(a, m.Stroke)
	case dialog.Soon:
		return a.soon(m)
	case dialog.Done:
		return a.done(m)
	default:
		return a.result(msg)
	}
	return nil
}

// soon does something after a while.
func (a *App) soon(m dialog.Soon) tea.Cmd {
	wait := a.after(m.After)
	if wait == nil {
		return nil
	}
	return func() tea.Msg {
		if wait() == nil {
			return nil
		}
		return m.Then
	}
}

// done reports the outcome of something that took time, and does what follows.
func (a *App) done(m dialog.Done) tea.Cmd {
	a.fail(m.Err)
	if m.Err == nil && m.Text != "" {
		a.notify(dialog.Info, m.Text)
	}
	if m.Then != nil && m.Err == nil {
		return a.apply(m.Then)
	}
	return a.tick()
}

// tick keeps time running while something moves: a turn, or a toast that ends.
func (v *view) tick() tea.Cmd {
	if !v.busy() && v.toast.text == "" && !v.lost {
		return nil
	}
	wait := 250 * time.Millisecond
	switch {
	case v.busy(), v.lost: // the time until the next attempt is counting down
	default:
		wait = max(v.toast.until.Sub(v.opts.Now()), 10*time.Millisecond)
	}
	due := v.opts.Now().Add(wait)
	if v.ticking && !due.Before(v.due) {
		return nil
	}
	v.ticking, v.due, v.ticks = true, due, v.ticks+1
	n, pause := v.ticks, v.after(wait)
	if pause == nil {
		return nil
	}
	return func() tea.Msg {
		if pause() == nil {
			return nil
		}
		return tickMsg{n}
	}
}

// wake returns a command that sends a tickMsg after a while. It ends with the
// screen, so that leaving waits for no timer.
func wake(access *engine.Access, d time.Duration) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return tickMsg{}
		case <-access.Context().Done():
			return nil
		}
	}
}

// trusted removes the notices about a repository that was not trusted.
func (a *App) trusted() tea.Cmd {
	a.opts.Notices = slices.DeleteFunc(a.opts.Notices, func(n string) bool {
		return strings.HasPrefix(n, "this repository ") || strings.HasPrefix(n, "this directory ")
	})
	return a.choice.Load()
}
