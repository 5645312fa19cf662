package prompt

// AfterSubtask returns the user message that follows the subtask of a command.
func AfterSubtask() string { return text("after-subtask") }

// UserTool returns the text of a user message that stands for a tool that the user
// ran.
func UserTool() string { return userToolText }
