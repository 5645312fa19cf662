package turn

import (
	"context"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/provider"
)

// cast is who takes part in a round of the loop: the user message to be answered, and the agent,
// model and tools that answer it. It is resolved once per round and used for everything in it.
type cast struct {
	user  *lathe.Message
	agent Agent
	model *provider.Model
	ref   lathe.ModelRef // what the model is called, with its variant
	tools *Toolset
}

// castFor resolves who answers a user message, or says why nobody can.
func (t *Turn) castFor(ctx context.Context, user *lathe.Message) (cast, lathe.Failure) {
	info := user.Info.(*lathe.User)
	agent, err := t.Host.Agent(info.Agent)
	if err != nil {
		return cast{}, &lathe.UnknownFailure{Message: withHint(err)}
	}
	model, ref, err := t.answering(ctx, info.Model)
	if err != nil {
		return cast{}, modelFailure(err, info.Model)
	}
	return cast{user, agent, model, ref, t.Host.Tools(agent, model, info)}, nil
}

// askedBy returns a context for what is done to answer a message: on behalf of who sent it.
func askedBy(ctx context.Context, user *lathe.Message) context.Context {
	if by := user.Info.(*lathe.User).By; by != people.From(ctx) {
		return people.With(ctx, by)
	}
	return ctx
}
