package keys

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
)

// defaults are the actions with their default keys, in the order of the help.
var defaults = [...]struct {
	action Action
	keys   string
	help   string
}{
	{Submit, "return", "send the message"},
	{Newline, "shift+return,ctrl+return,alt+return,ctrl+j", "new line"},
	{Interrupt, "escape", "stop the turn (twice)"},
	{AgentNext, "tab", "next agent"},
	{AgentPrevious, "shift+tab", "previous agent"},
	{Commands, "ctrl+p", "all commands"},
	{Models, "<leader>m", "choose a model"},
	{ModelNext, "f2", "next recent model"},
	{ModelPrevious, "shift+f2", "previous recent model"},
	{Variant, "ctrl+t", "next variant of the model"},
	{Agents, "<leader>a", "choose an agent"},
	{NewSession, "<leader>n", "new session"},
	{Sessions, "<leader>l", "choose a session"},
	{Timeline, "<leader>g", "jump to a message, undo to it, copy it"},
	{Rename, "ctrl+r", "rename the session (in the list)"},
	{Delete, "ctrl+d", "delete the session (in the list)"},
	{Fork, "none", "fork the session"},
	{Compact, "<leader>c", "compact the session"},
	{ChildNext, "<leader>right", "next subagent session"},
	{ChildPrevious, "<leader>left", "previous subagent session"},
	{Parent, "<leader>up", "back to the parent session"},
	{Undo, "<leader>u", "undo the last message and its changes"},
	{Redo, "<leader>r", "redo"},
	{Copy, "<leader>y", "copy the last answer"},
	{Editor, "<leader>e", "write in your own editor"},
	{Themes, "<leader>t", "choose a theme"},
	{Status, "<leader>s", "context, cost and connections"},
	{Details, "<leader>d", "show or fold the details of tools"},
	{Thinking, "<leader>i", "show or fold reasoning"},
	{Help, "<leader>h,f1", "this help"},
	{PageUp, "pageup,ctrl+alt+b", "page up"},
	{PageDown, "pagedown,ctrl+alt+f", "page down"},
	{LineUp, "ctrl+alt+y", "line up"},
	{LineDown, "ctrl+alt+e", "line down"},
	{HalfUp, "ctrl+alt+u", "half a page up"},
	{HalfDown, "ctrl+alt+d", "half a page down"},
	{First, "ctrl+g,home", "to the first message"},
	{Last, "ctrl+alt+g,end", "to the last message"},
	{HistoryPrevious, "up", "earlier message of yours"},
	{HistoryNext, "down", "later message of yours"},
	{Clear, "ctrl+c", "clear the input"},
	{Paste, "ctrl+v", "paste"},
	{Left, "left,ctrl+b", "left"},
	{Right, "right,ctrl+f", "right"},
	{Up, "up", "up"},
	{Down, "down", "down"},
	{LineHome, "ctrl+a", "to the start of the line"},
	{LineEnd, "ctrl+e", "to the end of the line"},
	{BufferHome, "home", "to the start of the input"},
	{BufferEnd, "end", "to the end of the input"},
	{WordForward, "alt+f,alt+right,ctrl+right", "word forward"},
	{WordBackward, "alt+b,alt+left,ctrl+left", "word backward"},
	{Backspace, "backspace,shift+backspace", "delete backward"},
	{DeleteChar, "ctrl+d,delete,shift+delete", "delete forward"},
	{DeleteWordBack, "ctrl+w,ctrl+backspace,alt+backspace", "delete the word before"},
	{DeleteWord, "alt+d,alt+delete,ctrl+delete", "delete the word after"},
	{DeleteLine, "ctrl+shift+d", "delete the line"},
	{DeleteToEnd, "ctrl+k", "delete to the end of the line"},
	{DeleteToStart, "ctrl+u", "delete to the start of the line"},
	{InputUndo, "ctrl+-,super+z", "undo typing"},
	{InputRedo, "ctrl+.,super+shift+z", "redo typing"},
	{Suspend, "ctrl+z", "suspend lathe"},
	{Exit, "ctrl+c,ctrl+d,<leader>q", "leave lathe (with an empty input)"},
}
