package keys

import (
	"strconv"
	"strings"
)

// The actions of the screen.
const (
	Exit            Action = "app_exit"
	Editor          Action = "editor_open"
	Themes          Action = "theme_list"
	Status          Action = "status_view"
	NewSession      Action = "session_new"
	Sessions        Action = "session_list"
	Timeline        Action = "session_timeline"
	Rename          Action = "session_rename"
	Delete          Action = "session_delete"
	Fork            Action = "session_fork"
	Interrupt       Action = "session_interrupt"
	Compact         Action = "session_compact"
	ChildNext       Action = "session_child_cycle"
	ChildPrevious   Action = "session_child_cycle_reverse"
	Parent          Action = "session_parent"
	PageUp          Action = "messages_page_up"
	PageDown        Action = "messages_page_down"
	LineUp          Action = "messages_line_up"
	LineDown        Action = "messages_line_down"
	HalfUp          Action = "messages_half_page_up"
	HalfDown        Action = "messages_half_page_down"
	First           Action = "messages_first"
	Last            Action = "messages_last"
	Copy            Action = "messages_copy"
	Undo            Action = "messages_undo"
	Redo            Action = "messages_redo"
	Details         Action = "tool_details"
	Thinking        Action = "thinking_toggle"
	Models          Action = "model_list"
	ModelNext       Action = "model_cycle_recent"
	ModelPrevious   Action = "model_cycle_recent_reverse"
	Commands        Action = "command_list"
	Agents          Action = "agent_list"
	AgentNext       Action = "agent_cycle"
	AgentPrevious   Action = "agent_cycle_reverse"
	Variant         Action = "variant_cycle"
	Help            Action = "help_show"
	Suspend         Action = "terminal_suspend"
	Clear           Action = "input_clear"
	Paste           Action = "input_paste"
	Submit          Action = "input_submit"
	Newline         Action = "input_newline"
	Left            Action = "input_move_left"
	Right           Action = "input_move_right"
	Up              Action = "input_move_up"
	Down            Action = "input_move_down"
	LineHome        Action = "input_line_home"
	LineEnd         Action = "input_line_end"
	BufferHome      Action = "input_buffer_home"
	BufferEnd       Action = "input_buffer_end"
	DeleteLine      Action = "input_delete_line"
	DeleteToEnd     Action = "input_delete_to_line_end"
	DeleteToStart   Action = "input_delete_to_line_start"
	Backspace       Action = "input_backspace"
	DeleteChar      Action = "input_delete"
	InputUndo       Action = "input_undo"
	InputRedo       Action = "input_redo"
	WordForward     Action = "input_word_forward"
	WordBackward    Action = "input_word_backward"
	DeleteWord      Action = "input_delete_word_forward"
	DeleteWordBack  Action = "input_delete_word_backward"
	HistoryPrevious Action = "history_previous"
	HistoryNext     Action = "history_next"

	Export         Action = "session_export"
	Share          Action = "session_share"
	Unshare        Action = "session_unshare"
	Favorite       Action = "model_favorite_toggle"
	ProviderList   Action = "model_provider_list"
	FavoriteNext   Action = "model_cycle_favorite"
	FavoritePrev   Action = "model_cycle_favorite_reverse"
	MessageNext    Action = "messages_next"
	MessagePrev    Action = "messages_previous"
	MessageUser    Action = "messages_last_user"
	Conceal        Action = "messages_toggle_conceal"
	Tips           Action = "tips_toggle"
	TitleToggle    Action = "terminal_title_toggle"
	VisualHome     Action = "input_visual_line_home"
	VisualEnd      Action = "input_visual_line_end"
	SelectLeft     Action = "input_select_left"
	SelectRight    Action = "input_select_right"
	SelectUp       Action = "input_select_up"
	SelectDown     Action = "input_select_down"
	SelectHome     Action = "input_select_line_home"
	SelectEnd      Action = "input_select_line_end"
	SelectVHome    Action = "input_select_visual_line_home"
	SelectVEnd     Action = "input_select_visual_line_end"
	SelectBufHome  Action = "input_select_buffer_home"
	SelectBufEnd   Action = "input_select_buffer_end"
	SelectWord     Action = "input_select_word_forward"
	SelectWordBack Action = "input_select_word_backward"
	SelectAll      Action = "input_select_all"

	Sidebar     Action = "sidebar_toggle"
	Scrollbar   Action = "scrollbar_toggle"
	Username    Action = "username_toggle"
	StashDelete Action = "stash_delete"
	Stash       Action = "prompt_stash"
	StashPop    Action = "prompt_stash_pop"
	StashList   Action = "prompt_stash_list"

	Archive      Action = "session_archive"
	Context      Action = "context_view"
	VariantList  Action = "variant_list"
	Timestamps   Action = "timestamps_toggle"
	ThemeMode    Action = "theme_mode_toggle"
	Review       Action = "session_review"
	ApprovalMode Action = "approval_mode_cycle"
	Elsewhere    Action = "elsewhere_list"
	VimToggle    Action = "vim_toggle"
	Find         Action = "messages_search"
	PromptNext   Action = "prompt_next"
	PromptPrev   Action = "prompt_previous"
	Bookmark     Action = "bookmark_toggle"
	Bookmarks    Action = "bookmark_list"
)

// QuickSwitch is the action that opens one of the sessions that were used last, 1 to 9.
func QuickSwitch(n int) Action { return Action("session_quick_switch_" + strconv.Itoa(n)) }

// Named is the action of a command that has a name, and no key unless one is configured.
func Named(command string) Action { return Action("command_" + command) }

// Quick returns which of the sessions an action of [QuickSwitch] opens; 0: it is another action.
func Quick(a Action) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(a), "session_quick_switch_"))
	return n
}

// scope is where an action's keys work. Actions of one scope can conflict;
// those of a list work only there.
type scope byte

const (
	everywhere scope = iota
	writing          // in the input, where it holds text
	listing          // in a list
)

// defaults are the actions with their default keys, in the order of the help.
var defaults = [...]struct {
	action Action
	keys   string
	help   string
	scope  scope
}{
	{Submit, "return", "send the message", writing},
	{Newline, "shift+return,ctrl+return,alt+return,ctrl+j", "new line", writing},
	{Interrupt, "escape", "stop the turn (twice)", everywhere},
	{AgentNext, "tab", "next agent", everywhere},
	{AgentPrevious, "shift+tab", "previous agent", everywhere},
	{Commands, "ctrl+p", "all commands", everywhere},
	{Models, "<leader>m", "choose a model", everywhere},
	{ModelNext, "f2", "next recent model", everywhere},
	{ModelPrevious, "shift+f2", "previous recent model", everywhere},
	{FavoriteNext, "none", "next favourite model", everywhere},
	{FavoritePrev, "none", "previous favourite model", everywhere},
	{Favorite, "ctrl+f", "favourite or not", listing},
	{ProviderList, "ctrl+a", "connect a provider, in the list of models", listing},
	{Variant, "ctrl+t", "next variant of the model", everywhere},
	{VariantList, "none", "choose a variant of the model", everywhere},
	{Agents, "<leader>a", "choose an agent", everywhere},
	{NewSession, "<leader>n", "new session", everywhere},
	{Sessions, "<leader>l", "choose a session", everywhere},
	{QuickSwitch(1), "<leader>1", "session used last; 2–9 earlier", everywhere},
	{QuickSwitch(2), "<leader>2", "a session used before, number 2", everywhere},
	{QuickSwitch(3), "<leader>3", "a session used before, number 3", everywhere},
	{QuickSwitch(4), "<leader>4", "a session used before, number 4", everywhere},
	{QuickSwitch(5), "<leader>5", "a session used before, number 5", everywhere},
	{QuickSwitch(6), "<leader>6", "a session used before, number 6", everywhere},
	{QuickSwitch(7), "<leader>7", "a session used before, number 7", everywhere},
	{QuickSwitch(8), "<leader>8", "a session used before, number 8", everywhere},
	{QuickSwitch(9), "<leader>9", "a session used before, number 9", everywhere},
	{Timeline, "<leader>g", "go to a message, undo to it", everywhere},
	{Rename, "ctrl+r", "rename the session", everywhere},
	{Delete, "ctrl+d", "delete the session", listing},
	{Archive, "ctrl+y", "archive the session", listing},
	{Export, "<leader>x", "export the session", everywhere},
	{Share, "none", "share the session", everywhere},
	{Unshare, "none", "take a shared session back", everywhere},
	{Fork, "none", "fork the session", everywhere},
	{Compact, "<leader>c", "compact the session", everywhere},
	{ChildNext, "<leader>right", "next subagent session", everywhere},
	{ChildPrevious, "<leader>left", "previous subagent session", everywhere},
	{Parent, "<leader>up", "back to the parent session", everywhere},
	{Undo, "<leader>u", "undo the last message", everywhere},
	{Redo, "<leader>r", "redo", everywhere},
	{Copy, "<leader>y", "copy the last answer", everywhere},
	{Editor, "<leader>e", "write in your own editor", everywhere},
	{Stash, "ctrl+s", "stash what is written; without text, take it back", everywhere},
	{StashPop, "none", "take back what was put aside last", everywhere},
	{StashList, "none", "what was put aside", everywhere},
	{StashDelete, "ctrl+d", "delete what was put aside (twice)", listing},
	{Elsewhere, "f4", "what OpenCode, Claude Code and Codex have here: import, keep, ignore", everywhere},
	{Themes, "<leader>t", "choose a theme", everywhere},
	{Review, "<leader>v", "what the session changed", everywhere},
	{ApprovalMode, "f3", "how much is asked: by rules, ask first, accept edits, plan only, auto", everywhere},
	{ThemeMode, "none", "dark or light", everywhere},
	{Status, "<leader>s", "how lathe is set up", everywhere},
	{Context, "none", "what fills the window", everywhere},
	{Details, "<leader>d", "show or fold tool details", everywhere},
	{Thinking, "<leader>i", "show or fold reasoning", everywhere},
	{Conceal, "<leader>h", "Markdown as written, or drawn", everywhere},
	{Timestamps, "none", "show or hide the time of messages", everywhere},
	{Username, "none", "show or hide who wrote a prompt", everywhere},
	{Sidebar, "<leader>b", "show or hide the sidebar", everywhere},
	{Scrollbar, "none", "show or hide the scroll bar", everywhere},
	{Tips, "<leader>h", "tips of a new session", everywhere},
	{VimToggle, "none", "the keys of vi in the input, or not", everywhere},
	{TitleToggle, "none", "name the session in the terminal's title, or not", everywhere},
	{Help, "f1", "this help", everywhere},
	{PageUp, "pageup,ctrl+alt+b", "page up", everywhere},
	{PageDown, "pagedown,ctrl+alt+f", "page down", everywhere},
	{LineUp, "ctrl+alt+y", "line up", everywhere},
	{LineDown, "ctrl+alt+e", "line down", everywhere},
	{HalfUp, "ctrl+alt+u", "half a page up", everywhere},
	{HalfDown, "ctrl+alt+d", "half a page down", everywhere},
	{First, "ctrl+g,home", "to the first message", everywhere},
	{Last, "ctrl+alt+g,end", "to the last message", everywhere},
	{PromptPrev, "alt+up", "to your message before", everywhere},
	{PromptNext, "alt+down", "to your next message", everywhere},
	{Find, "<leader>/", "find in the conversation", everywhere},
	{Bookmark, "<leader>k", "bookmark this message, or not", everywhere},
	{Bookmarks, "<leader>j", "bookmarks: jump to one", everywhere},
	{MessageNext, "none", "to the next message", everywhere},
	{MessagePrev, "none", "to the message before", everywhere},
	{MessageUser, "none", "to your last message", everywhere},
	{HistoryPrevious, "up", "earlier message of yours", writing},
	{HistoryNext, "down", "later message of yours", writing},
	{Clear, "ctrl+c", "clear the input", writing},
	{Paste, "ctrl+v", "paste", writing},
	{Left, "left,ctrl+b", "left", writing},
	{Right, "right,ctrl+f", "right", writing},
	{Up, "up", "up", writing},
	{Down, "down", "down", writing},
	{LineHome, "ctrl+a", "to the start of the line", writing},
	{LineEnd, "ctrl+e", "to the end of the line", writing},
	{BufferHome, "home", "to the start of the input", writing},
	{BufferEnd, "end", "to the end of the input", writing},
	{VisualHome, "alt+a", "to the start of the row", writing},
	{VisualEnd, "alt+e", "to the end of the row", writing},
	{SelectLeft, "shift+left", "select to the left", writing},
	{SelectRight, "shift+right", "select to the right", writing},
	{SelectUp, "shift+up", "select up", writing},
	{SelectDown, "shift+down", "select down", writing},
	{SelectHome, "ctrl+shift+a", "select to the start of the line", writing},
	{SelectEnd, "ctrl+shift+e", "select to the end of the line", writing},
	{SelectVHome, "alt+shift+a", "select to the start of the row", writing},
	{SelectVEnd, "alt+shift+e", "select to the end of the row", writing},
	{SelectBufHome, "shift+home", "select to the start of the input", writing},
	{SelectBufEnd, "shift+end", "select to the end of the input", writing},
	{SelectWord, "alt+shift+f,alt+shift+right", "select a word forward", writing},
	{SelectWordBack, "alt+shift+b,alt+shift+left", "select a word backward", writing},
	{SelectAll, "super+a", "select everything", writing},
	{WordForward, "alt+f,alt+right,ctrl+right", "word forward", writing},
	{WordBackward, "alt+b,alt+left,ctrl+left", "word backward", writing},
	{Backspace, "backspace,shift+backspace", "delete backward", writing},
	{DeleteChar, "ctrl+d,delete,shift+delete", "delete forward", writing},
	{DeleteWordBack, "ctrl+w,ctrl+backspace,alt+backspace", "delete the word before", writing},
	{DeleteWord, "alt+d,alt+delete,ctrl+delete", "delete the word after", writing},
	{DeleteLine, "ctrl+shift+d", "delete the line", writing},
	{DeleteToEnd, "ctrl+k", "delete to the end of the line", writing},
	{DeleteToStart, "ctrl+u", "delete to the start of the line", writing},
	{InputUndo, "ctrl+-,super+z", "undo typing", writing},
	{InputRedo, "ctrl+.,super+shift+z", "redo typing", writing},
	{Named("worktree"), "none", "new session in a git worktree of its own", everywhere},
	{Named("worktrees"), "none", "git worktrees: what is not merged, go on in one, remove", everywhere},
	{Named("archived"), "none", "sessions that were put away", everywhere},
	{Named("children"), "none", "sessions of subagents", everywhere},
	{Named("tree"), "none", "who works for this session, and what it costs", everywhere},
	{Named("stop"), "none", "stop the session and all subagents that work for it", everywhere},
	{Named("connect"), "none", "connect a provider with a key", everywhere},
	{Named("setup"), "none", "what can answer: keys, local servers, the offline guide", everywhere},
	{Named("approval"), "none", "how much is asked: by rules, ask first, accept edits, plan only, auto", everywhere},
	{Named("trust"), "none", "whether this repository may steer lathe", everywhere},
	{Named("permissions"), "none", "what you allowed from now on; take it back", everywhere},
	{Named("jobs"), "none", "processes that live on: output, stop", everywhere},
	{Named("mcps"), "none", "MCP servers: their state and tools, on and off", everywhere},
	{Named("languages"), "none", "language servers: their state, why one failed, start one anew", everywhere},
	{Named("plugins"), "none", "plugins, tools and hooks: what they take part in, on and off", everywhere},
	{Named("keep"), "none", "let the running command go on as a job", everywhere},
	{Named("skills"), "none", "skills that models can load", everywhere},
	{Named("code"), "none", "copy a block of code of the newest answer that has one", everywhere},
	{Named("doctor"), "none", "look whether all works", everywhere},
	{Named("exit"), "none", "leave lathe", everywhere},
	{Suspend, "ctrl+z", "suspend lathe", everywhere},
	{Exit, "ctrl+c,ctrl+d,<leader>q", "leave lathe (empty input)", everywhere},
}
