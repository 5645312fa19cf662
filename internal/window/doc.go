// Package window accounts for what a model sees of a session.
//
// A [Window] belongs to one session. It holds the system prompt, which is frozen from one compaction to the
// next so that every request begins with the same bytes (frozen.go), and an account of how well the
// provider's cache used it (cache.go, window.go). [Weigh] says what fills the window now (weight.go),
// [ByModel] what it cost (cost.go).
package window
