// Package adapter is what the adapters of protocols share: the transport over
// HTTP with its timeouts ([Transport]), the answer that
// decoders fill ([Answer]), a writer and a reader of JSON ([Writer], [Scan]), and
// the classification of what can go wrong ([StatusError], [StreamError]). A
// protocol's package encodes requests and decodes events.
package adapter
