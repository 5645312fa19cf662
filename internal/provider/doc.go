// Package provider turns configuration, credentials and the catalogue into
// models that can be used: which providers are there, which model a name means,
// which one to take when none was named, and how a request must look for it.
//
// Vendors are data: the catalogue names the protocol, and tables hold what a
// family of models wants beside it.
//
// A [Registry] (registry.go) knows the providers and looks models up; choose.go picks one
// if none was named. A [Model] (model.go) comes from the catalogue with the configuration
// on top (resolve.go), and an endpoint says how it is reached (endpoint.go). Before a
// request is sent, the model prepares it (prepare.go), fits its messages (normalize.go)
// and the schemas of its tools (schema.go, root.go), with the tables of family.go. Servers
// on this machine are found by local.go; keytest.go tries a key.
package provider
