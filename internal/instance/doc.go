// Package instance equips a directory: its configuration, and what follows from it for
// everyone who works there, whichever session they are in.
//
// An [Instance] is opened once for a directory ([Open]) and closed with it. It is a
// list of smaller things, each of which knows one subject:
//
//   - where it is, and whether the person trusts the repository to steer lathe:
//     root, project, paths, configuration, [Checkout], [Trust] (place.go, trust.go);
//   - [Models] that can be called, and [Agents], which are named presets of model,
//     prompt and rules (agents.go, ceilings.go, rules.go, offering.go, design.go);
//   - [Tools], and the [Shell] that commands run in (tools.go, environment.go);
//   - texts for the model: [Instructions], [Skills] and [Commands];
//   - who may do and read what: pending asks, [Grants], which files may be shown
//     (approvals.go, reading.go);
//   - [Parts], which start when they are first needed and close with the instance. The
//     snapshot store is one (snapshotstore.go); tool servers and language servers
//     are others;
//   - what a person is told of all that (setup.go).
//
// It knows nothing of the sessions that run in it. What its tools need of them, such
// as starting a subagent, comes in as [Sessions].
package instance
