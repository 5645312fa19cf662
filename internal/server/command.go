package server

func (c *call) sessionInit() (any, error) {
	var in struct{ ProviderID, ModelID, MessageID string }
	if _, err := c.session(); err != nil {
		return nil, err
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("providerID", in.ProviderID, "modelID", in.ModelID, "messageID", in.MessageID); err != nil {
		return nil, err
	}
	return nil, &unsupported{"the init command over the API"}
}

func (c *call) sessionCommand() (any, error) {
	var in struct{ Command, Arguments *string }
	if _, err := c.session(); err != nil {
		return nil, err
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.Command == nil || in.Arguments == nil {
		return nil, badPayload("command and arguments are both needed")
	}
	return nil, &unsupported{"slash commands over the API"}
}

func (c *call) sessionShell() (any, error) {
	var in struct{ Agent, Command string }
	if _, err := c.session(); err != nil {
		return nil, err
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("agent", in.Agent, "command", in.Command); err != nil {
		return nil, err
	}
	return nil, &unsupported{"running a command in a session over the API"}
}
