// Package provider turns configuration, credentials and the catalogue into
// models that can be used: which providers are there, which model a name means,
// which one to take when none was named, and how a request must look for it.
//
// Vendors are data: the catalogue names the protocol, and tables hold what a
// family of models wants beside it.
package provider
