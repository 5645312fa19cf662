// Package contract judges what lathe sends by the providers' own Go packages, and
// what the test server answers by their SDKs. It is a module of its own, so that
// nothing of theirs is in lathe's; .ci/contracts runs it on the files that a test
// of internal/session wrote.
package contract
