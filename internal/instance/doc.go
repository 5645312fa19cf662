// Package instance equips a directory: its configuration, and what follows from it
// for everyone who works there, whichever session they are in.
//
// An [Instance] is opened once for a directory ([Open]) and closed with it. It owns
//
//   - where it is: root, project, paths, and whether the person trusts the
//     repository to steer lathe ([Checkout], [Trust]; trust.go);
//   - the models that can be called, and the agents, which are named presets of
//     model, prompt and rules (agents.go, ceilings.go, rules.go, design.go);
//   - the tools, and how commands run (tools.go, environment.go, offering.go);
//   - the texts for the model: instruction files, skills and commands
//     (instructions.go, skills.go, command.go);
//   - who may read and do what: pending asks, what was approved for good, which
//     files may be shown (approvals.go, reading.go);
//   - the snapshot store of its worktree (snapshotstore.go).
//
// It knows nothing of the sessions that run in it. What its tools need of them,
// such as starting a subagent, comes in as [Sessions].
package instance
