// Package adapter is what the adapters of protocols share: the transport over
// HTTP with its timeouts ([Transport]), the answer that
// decoders fill ([Answer]), a writer and a reader of JSON ([Writer], [Scan]), and
// the classification of what can go wrong ([StatusError], [StreamError]). A
// protocol's package encodes requests and decodes events.
//
// model.go runs a [Protocol]: it sends the request (endpoint.go, transport.go,
// with watch.go cancelling a phase that takes too long), looks at the body
// (body.go), and lets the protocol decode each event into an Answer (answer.go,
// within bounds.go). classify.go and neterror.go make errors of what went wrong.
// json.go and scan.go write and read JSON; openai.go is what OpenAI's two
// protocols share.
package adapter
