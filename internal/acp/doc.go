// Package acp lets editors drive lathe: it is the agent's side of the Agent Client
// Protocol, version 1, over a pair of streams.
//
// It is a light face. Everything it does goes through [client.Client], so an editor
// sees the same sessions as the screen and the command line, and whoever answers an
// ask first answers for all. The shape of the package:
//
//   - [Serve] owns the connection (stream.go: one JSON object a line, bounded) and
//     hands each request to its method (agent.go). An answer can be followed by
//     notifications in a fixed order, which editors rely on when a session begins.
//   - A conversation is a session that the editor has open (conversation.go). What it
//     can choose from are modes (agents), models and efforts (choices.go), and slash
//     commands (commands.go).
//   - A feed follows the events of one directory for all its conversations (feed.go).
//     What it learns of a message is told by teller (tell.go, toolcall.go), which
//     remembers what the editor has, so that history, live text and what was missed
//     while a server was away all take the same way.
//   - Permission asks and questions become requests to the editor (ask.go).
//
// The types of the protocol (protocol.go) are our own: only what is used here, in the
// form that the published schema of @agentclientprotocol/sdk 2.4 has. Decision 11 says
// why.
package acp
