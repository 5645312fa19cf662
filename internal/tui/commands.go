package tui

import (
	"context"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/order"
	"lathe/internal/tui/about"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/compose"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/find"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/languages"
	"lathe/internal/tui/look"
	"lathe/internal/tui/start"
	"lathe/internal/tui/styled"
)

// command is something the screen can do: by a key, by "/name", or from the list
// of all commands.
type command struct {
	names  []string // after "/"; the first is shown
	action keys.Action
	title  string
	group  string
	when   func(v *view) bool // nil: always
	run    func(a *App) tea.Cmd
}

func (c *command) can(v *view) bool { return c.when == nil || c.when(v) }

func canNote(v *view) bool { return hasSession(v) && v.access.Able.Notes != nil }

func hasSession(v *view) bool { return v.session.ID != "" }

// allCommands returns the commands in the order they are listed.
func allCommands() []command {
	return slices.Concat(sessionCommands(), agentCommands(), viewCommands(), switchCommands())
}

func sessionCommands() []command {
	return []command{
		{[]string{"new", "clear"}, keys.NewSession, "new session", "session", nil, func(a *App) tea.Cmd { a.fresh(); return nil }},
		{[]string{"worktree"}, keys.Named("worktree"), "new session in a git worktree of its own", "session", canBranchOff, branchOff},
		{[]string{"worktrees"}, keys.Named("worktrees"), "git worktrees: what is not merged, go on in one, remove", "session", canBranchOff, listWorktrees},
		{[]string{"sessions", "resume", "continue"}, keys.Sessions, "switch to a session; rename, archive, delete", "session", nil, func(a *App) tea.Cmd { return a.apply(a.sessions.List()) }},
		{[]string{"found", "import"}, keys.Elsewhere, "what OpenCode, Claude Code and Codex have here: import, keep, ignore", "session", func(v *view) bool { return v.access.Able.Elsewhere != nil }, func(a *App) tea.Cmd { return a.apply(a.start.Elsewhere()) }},
		{[]string{"archived"}, keys.Named("archived"), "sessions that were put away", "session", func(v *view) bool { return v.access.Able.Archive != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Archived()) }},
		{[]string{"timeline"}, keys.Timeline, "jump to a message, undo to it, fork, copy it", "session", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.Timeline(a.access.Able, a.opts.Now().Location())) }},
		{[]string{"find"}, keys.Find, "find in the conversation", "session", hasSession, func(a *App) tea.Cmd { return a.apply(find.Open(a, a.access, a.sheets.Take())) }},
		{[]string{"bookmark"}, keys.Bookmark, "bookmark this message, or not", "session", canNote, func(a *App) tea.Cmd { return a.apply(a.marks.Toggle()) }},
		{[]string{"bookmarks"}, keys.Bookmarks, "bookmarks: jump to one", "session", canNote, func(a *App) tea.Cmd { return a.apply(a.marks.List(a.opts.Now().Location())) }},
		{[]string{"diff", "changes"}, keys.Review, "what the session changed: look through it, take back, comment, stage", "session", canReview, func(a *App) tea.Cmd { return a.apply(a.review.Open(a.session.ID)) }},
		{[]string{"rename"}, keys.Rename, "rename the session", "session", hasSession, func(a *App) tea.Cmd { return a.apply(a.sessions.Rename(a.session)) }},
		{[]string{"fork"}, keys.Fork, "fork the session", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Fork != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Fork(a.session.ID, "", edit.Written{})) }},
		{[]string{"compact", "summarize"}, keys.Compact, "compact the session", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Compact != nil }, compact},
		{[]string{"undo"}, keys.Undo, "undo the last message and its changes", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Undo != nil }, func(a *App) tea.Cmd { return a.apply(a.undoing.Undo()) }},
		{[]string{"redo"}, keys.Redo, "redo what was undone", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Undo != nil && v.conv.Undone() != "" }, func(a *App) tea.Cmd { return a.apply(a.undoing.Redo()) }},
		{[]string{"share"}, keys.Share, "share the session: a link, or a web page to send", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Share != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Share(a.session)) }},
		{[]string{"unshare"}, keys.Unshare, "take a shared session back", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Share != nil && v.session.Share != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Unshare(a.session)) }},
		{[]string{"export"}, keys.Export, "export the session: Markdown, JSON, web page", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Export != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Export(a.session)) }},
		{[]string{"parent"}, keys.Parent, "back to the parent session", "session", func(v *view) bool { return v.session.ParentID != "" }, func(a *App) tea.Cmd { return a.open(a.session.ParentID) }},
		{[]string{"children"}, keys.Named("children"), "sessions of subagents", "session", hasSession, func(a *App) tea.Cmd { return a.apply(a.sessions.Children(a.session.ID)) }},
		{[]string{"tree"}, keys.Named("tree"), "who works for this session, and what it costs", "session", func(v *view) bool { return hasSession(v) && v.access.Able.Tree != nil }, func(a *App) tea.Cmd { return a.apply(a.sessions.Tree(a.session.ID)) }},
		{[]string{"stop"}, keys.Named("stop"), "stop the session and all subagents that work for it", "session", hasSession, func(a *App) tea.Cmd { return a.apply(a.sessions.Stop(a.session.ID)) }},
		{nil, keys.ChildNext, "next subagent session", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.sessions.Child(1)) }},
		{nil, keys.ChildPrevious, "previous subagent session", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.sessions.Child(-1)) }},
	}
}

func agentCommands() []command {
	return []command{
		{[]string{"models"}, keys.Models, "choose a model", "agent", nil, func(a *App) tea.Cmd { return a.apply(a.choice.ModelList()) }},
		{[]string{"connect"}, keys.Named("connect"), "connect a provider with a key", "agent", func(v *view) bool { return v.access.Able.Keys != nil }, func(a *App) tea.Cmd { return a.apply(choice.Connect{}) }},
		{[]string{"setup"}, keys.Named("setup"), "what can answer: keys, local servers, the offline guide", "agent", func(v *view) bool { return v.access.Able.Found != nil }, func(a *App) tea.Cmd { return a.setup.Look() }},
		{[]string{"agents"}, keys.Agents, "choose an agent", "agent", nil, func(a *App) tea.Cmd { return a.apply(a.choice.AgentList()) }},
		{[]string{"variants", "variant"}, keys.VariantList, "choose a variant of the model", "agent", nil, func(a *App) tea.Cmd { return a.apply(a.choice.VariantList()) }},
		{nil, keys.Variant, "next variant of the model", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.NextVariant()) }},
		{nil, keys.AgentNext, "next agent", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleAgent(1)) }},
		{nil, keys.AgentPrevious, "previous agent", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleAgent(-1)) }},
		{nil, keys.ModelNext, "next recent model", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleModel(1)) }},
		{nil, keys.ModelPrevious, "previous recent model", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleModel(-1)) }},
		{nil, keys.FavoriteNext, "next favourite model", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleFavorite(1)) }},
		{nil, keys.FavoritePrev, "previous favourite model", "", nil, func(a *App) tea.Cmd { return a.apply(a.choice.CycleFavorite(-1)) }},
		{nil, keys.ApprovalMode, "how much is asked: next mode", "", modal, func(a *App) tea.Cmd { return a.apply(a.modes.Cycle(a.session.ID)) }},
		{[]string{"approval", "modes"}, keys.Named("approval"), "how much is asked: by rules, ask first, accept edits, plan only, auto", "agent", modal, func(a *App) tea.Cmd { return a.apply(a.modes.List(a.session.ID)) }},
		{[]string{"trust"}, keys.Named("trust"), "whether this repository may steer lathe", "agent", func(v *view) bool { return v.access.Able.Trust != nil }, func(a *App) tea.Cmd { return a.apply(a.setup.TrustPage()) }},
		{[]string{"permissions"}, keys.Named("permissions"), "what you allowed from now on; take it back", "agent", func(v *view) bool { return v.access.Able.Approvals != nil }, func(a *App) tea.Cmd { return a.apply(a.setup.Approvals()) }},
		{[]string{"jobs"}, keys.Named("jobs"), "processes that live on: output, stop", "agent", func(v *view) bool { return hasSession(v) && v.access.Able.Jobs != nil }, func(a *App) tea.Cmd { return a.apply(a.jobs.List(a.session.ID)) }},
		{[]string{"mcps", "mcp"}, keys.Named("mcps"), "MCP servers: their state and tools, on and off", "agent", nil, showServers},
		{[]string{"languages", "lsp"}, keys.Named("languages"), "language servers: their state, why one failed, start one anew", "agent", nil, showLanguages},
		{[]string{"plugins", "hooks"}, keys.Named("plugins"), "plugins, tools and hooks: what they take part in, on and off", "agent", func(v *view) bool { return v.access.Able.Plugins != nil }, func(a *App) tea.Cmd { return a.apply(a.plugins.List()) }},
		{[]string{"keep"}, keys.Named("keep"), "let the running command go on as a job", "agent", func(v *view) bool { return hasSession(v) && v.access.Able.Jobs != nil }, func(a *App) tea.Cmd { return a.apply(a.jobs.Keep(a.session.ID)) }},
		{[]string{"skills"}, keys.Named("skills"), "skills that models can load", "agent", func(v *view) bool { return v.access.Able.Setup != nil }, func(a *App) tea.Cmd { return a.apply(a.about.Skills()) }},
	}
}

func viewCommands() []command {
	return []command{
		{[]string{"copy"}, keys.Copy, "copy the last answer", "view", nil, copyAnswer},
		{[]string{"code", "copycode"}, keys.Named("code"), "copy a block of code of the newest answer that has one", "view", hasSession, copyCode},
		{[]string{"details"}, keys.Details, "show or fold the details of tools", "view", nil, func(a *App) tea.Cmd { a.look.Details = !a.look.Details; return nil }},
		{[]string{"thinking"}, keys.Thinking, "show or fold reasoning", "view", nil, func(a *App) tea.Cmd { a.look.Thinking = !a.look.Thinking; return nil }},
		{[]string{"timestamps"}, keys.Timestamps, "show or hide the time of messages", "view", nil, toggleTimes},
		{[]string{"usernames"}, keys.Username, "show or hide who wrote a prompt", "view", nil, toggleNames},
		{[]string{"sidebar"}, keys.Sidebar, "show or hide the sidebar", "view", hasSession, toggleSidebar},
		{[]string{"scrollbar"}, keys.Scrollbar, "show or hide the scroll bar", "view", notInline, toggleScrollbar},
		{[]string{"markdown"}, keys.Conceal, "Markdown as it was written, or drawn", "view", hasSession, func(a *App) tea.Cmd { a.look.Raw = !a.look.Raw; return nil }},
		{[]string{"tips"}, keys.Tips, "show or hide what a new session tells", "view", func(v *view) bool { return v.session.ID == "" }, toggleTips},
		{[]string{"themes"}, keys.Themes, "choose a theme", "view", nil, func(a *App) tea.Cmd { return a.apply(a.style.ThemeList()) }},
		{[]string{"mode"}, keys.ThemeMode, "dark or light", "view", nil, func(a *App) tea.Cmd { return a.apply(a.style.ToggleMode()) }},
		{[]string{"status"}, keys.Status, "how lathe is set up: servers, configuration, sandbox", "view", nil, func(a *App) tea.Cmd { return a.apply(a.about.Status()) }},
		{[]string{"context", "cost"}, keys.Context, "what fills the window, and what it cost", "view", func(v *view) bool { return hasSession(v) && v.access.Able.Weigh != nil }, func(a *App) tea.Cmd { return a.apply(a.about.Context()) }},
		{[]string{"doctor"}, keys.Named("doctor"), "look whether all works", "view", nil, func(a *App) tea.Cmd { return a.apply(a.about.Doctor()) }},
		{[]string{"vim"}, keys.VimToggle, "the keys of vi in the input, or not", "view", nil, toggleVim},
		{[]string{"editor"}, keys.Editor, "write in your own editor", "view", nil, func(a *App) tea.Cmd { return a.apply(a.input.Edit()) }},
		{nil, keys.Stash, "put what is written aside: stash it", "view", stashes, func(a *App) tea.Cmd { return a.apply(compose.Shelf{Composer: a.input}.Stash()) }},
		{[]string{"unstash"}, keys.StashPop, "take back what was put aside last", "view", stashes, func(a *App) tea.Cmd { return a.apply(compose.Shelf{Composer: a.input}.StashPop()) }},
		{[]string{"stash"}, keys.StashList, "what was put aside; words after it are put aside too", "view", stashes, func(a *App) tea.Cmd { return a.apply(compose.Shelf{Composer: a.input}.StashList(a.sheets.Take())) }},
		{[]string{"help", "keys"}, keys.Help, "help with all keys", "view", nil, help},
		{nil, keys.Commands, "all commands", "", nil, palette},
		{nil, keys.PromptPrev, "to your message before", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.ToPrompt(-1)) }},
		{nil, keys.PromptNext, "to your next message", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.ToPrompt(1)) }},
		{nil, keys.MessageNext, "to the next message", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.ToMessage(1)) }},
		{nil, keys.MessagePrev, "to the message before", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.ToMessage(-1)) }},
		{nil, keys.MessageUser, "to your last message", "", hasSession, func(a *App) tea.Cmd { return a.apply(a.conv.ToMessage(0)) }},
		{nil, keys.TitleToggle, "name the session in the terminal's title, or not", "", nil, func(a *App) tea.Cmd { a.noTitle = !a.noTitle; return nil }},
		{[]string{"exit", "quit", "q"}, keys.Named("exit"), "leave lathe", "view", nil, func(*App) tea.Cmd { return tea.Quit }},
	}
}

// switchCommands open the sessions that were used last.
func switchCommands() (out []command) {
	for n := range start.MostRecent {
		out = append(out, command{nil, keys.QuickSwitch(n + 1), "", "", nil, quickSwitch(n + 1)})
	}
	return out
}

func modal(v *view) bool { return v.access.Able.Modes != nil }

func stashes(v *view) bool { return v.input.Stashes() }

// commandFor returns the command that an action stands for.
func commandFor(act keys.Action) *command {
	if act == "" {
		return nil
	}
	for _, c := range allCommands() {
		if c.action == act {
			return &c
		}
	}
	return nil
}

// slash returns the screen's command of a name.
func slash(name string) *command {
	for _, c := range allCommands() {
		if slices.Contains(c.names, name) {
			return &c
		}
	}
	return nil
}

// commandOffers returns the commands that fit what was written, first the one whose whole name it
// is: enter must not run what was not asked for. So the name of one that cannot be used now fits no
// other.
func (a *App) commandOffers(query string) []compose.Completion {
	if c := slash(query); c != nil && !c.can(&a.view) {
		return nil
	}
	type scored struct {
		compose.Completion
		score int
	}
	var found []scored
	add := func(names []string, detail string, run bool) {
		best := -1
		for _, n := range names {
			if s, ok := dialog.Match(query, n); ok {
				best = max(best, s)
			}
			if strings.EqualFold(query, n) {
				best = math.MaxInt
			}
		}
		if best >= 0 {
			c := compose.Completion{Insert: "/" + names[0], Label: "/" + names[0], Detail: styled.OneLine(detail), Run: run}
			if !run {
				c.Insert += " "
			}
			found = append(found, scored{c, best})
		}
	}
	for _, c := range allCommands() {
		if len(c.names) > 0 && c.can(&a.view) {
			add(c.names, a.look.T(c.title), true)
		}
	}
	for _, c := range a.choice.Commands() {
		if slash(c.Name) == nil {
			add([]string{c.Name}, c.Description, false)
		}
	}
	if query != "" {
		order.Stable(found, func(x, y scored) int { return y.score - x.score })
	}
	out := make([]compose.Completion, len(found))
	for i, f := range found {
		out[i] = f.Completion
	}
	return out
}

// palette lists everything that can be done now.
func palette(a *App) tea.Cmd {
	l := dialog.List{Title: "commands", Hint: "enter run · esc close"}
	runs := map[string]func(*App) tea.Cmd{}
	var more []dialog.Item
	for _, c := range allCommands() {
		if !c.can(&a.view) || c.action == keys.Commands || c.title == "" {
			continue
		}
		it := dialog.Item{ID: string(c.action), Title: a.look.T(c.title), Group: look.Or(c.group, "more"), Right: a.keys.For(c.action)}
		if len(c.names) > 0 {
			it.ID, it.Detail = c.names[0], "/"+c.names[0]
		}
		runs[it.ID] = c.run
		if c.group == "" {
			more = append(more, it)
		} else {
			l.Items = append(l.Items, it)
		}
	}
	for _, c := range a.choice.Commands() {
		if slash(c.Name) == nil {
			l.Items = append(l.Items, dialog.Item{ID: c.Name, Title: "/" + styled.OneLine(c.Name), Detail: styled.OneLine(c.Description), Group: "project"})
		}
	}
	l.Items = append(l.Items, more...)
	l.Pick = func(it dialog.Item) tea.Msg {
		if run := runs[it.ID]; run != nil && it.Group != "project" {
			return run(a)
		}
		a.input.Set("/" + it.ID + " ")
		return nil
	}
	a.apply(dialog.Open{Sheet: dialog.NewList(l)})
	return nil
}

func copyAnswer(a *App) tea.Cmd {
	text := a.conv.Shown().Answer()
	if text == "" {
		a.notify(dialog.Warning, "there is no answer to copy")
		return a.tick()
	}
	return a.copy(text, "copied the last answer")
}

func compact(a *App) tea.Cmd {
	c, model := a.access.Able.Compact, a.choice.Current()
	id := a.session.ID
	return a.do("", func(ctx context.Context) error { return c.Compact(ctx, id, model) })
}

// help shows the keys of what is done now, and every key and command.
func help(a *App) tea.Cmd {
	var list []about.Command
	for _, c := range allCommands() {
		list = append(list, about.Command{Names: c.names, Title: a.look.T(c.title), Action: c.action})
	}
	project := slices.DeleteFunc(slices.Clone(a.choice.Commands()), func(c api.Command) bool { return slash(c.Name) != nil })
	now := about.Now{Busy: a.busy(), Session: hasSession(&a.view), Can: func(act keys.Action) bool {
		c := commandFor(act)
		return c == nil || c.can(&a.view)
	}}
	return a.apply(about.Help(a.keys, list, project, now))
}

// showLanguages shows the language servers; if the engine cannot say more about them,
// they are shown with the rest of lathe's setup.
func showLanguages(a *App) tea.Cmd {
	if a.access.Able.Languages == nil {
		return a.apply(a.about.Status())
	}
	return a.apply(languages.New(a.access).List())
}

// showServers shows the MCP servers; if the engine cannot say more about them, they
// are shown with the rest of lathe's setup.
func showServers(a *App) tea.Cmd {
	if a.access.Able.Servers == nil {
		return a.apply(a.about.Status())
	}
	if a.sheets.Took("refresh") {
		return a.apply(a.servers.Refresh(a.session.ID))
	}
	return a.apply(a.servers.List(a.session.ID))
}
