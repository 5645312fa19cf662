package mcp

// hostileServers are servers that no client should have to meet.
var hostileServers = map[string]func(){}
