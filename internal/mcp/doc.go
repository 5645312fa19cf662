// Package mcp connects a directory to the servers of the model context protocol that
// its configuration names, and offers what they have as tools, resources and prompts.
//
// [Servers] are all servers of a directory. None runs before it is needed: what a
// server offers is remembered from the last time it ran (cache.go), so the model is
// told of its tools at once and the server starts with the first call. One that was
// never seen is offered through mcp_search and mcp_call, which start it.
//
//   - server.go has the life of one server: start, calls, death, back-off;
//   - stdio.go and remote.go reach it; oauth.go logs in to it;
//   - learn.go asks it what it has; definition.go keeps that within bounds;
//   - offer.go decides what a model is shown of all servers, which is frozen for a
//     window; tool.go and deferred.go are the tools that the model calls;
//   - call.go and result.go make a call and turn its result into a tool's;
//   - requests.go answers what servers ask of a client;
//   - resources.go and prompts.go are for people: what they attach and type.
//
// Whatever a server says is foreign: it is limited in size, and made safe where it is
// shown. A server that hangs, floods or dies affects only its own calls.
package mcp
