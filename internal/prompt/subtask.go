package prompt

// AfterSubtask returns the user message that follows the subtask of a command.
func AfterSubtask() string { return text("after-subtask") }
