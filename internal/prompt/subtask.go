package prompt

// AfterSubtask returns the user message that follows the subtask of a command.
func AfterSubtask() string { return text("after-subtask") }

// UserTool returns the text of a user message that stands for a tool run by the
// user.
func UserTool() string { return userToolText }
