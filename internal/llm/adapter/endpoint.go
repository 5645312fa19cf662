package adapter

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Endpoint is where and how a protocol adapter reaches a provider. Each adapter
// package has New(Endpoint) that returns its Model.
type Endpoint struct {
	// BaseURL is the address without the protocol's own path, for example
	// "https://api.example.com/v1". Empty means the protocol's public address.
	BaseURL string
	// Key is the credential; the adapter knows which header carries it. Empty
	// sends none.
	Key string
	// Header is added to every request; a name set here replaces the adapter's own.
	Header map[string]string
	// Client is used for requests; nil means one with proxies from the
	// environment and no limits but those below.
	Client *http.Client
	// Timeouts bound the phases of a request.
	Timeouts Timeouts
	// Reached is set when the provider has answered; several endpoints with the
	// same address may share it. A host name that resolved once and no longer
	// does is worth another attempt; one that never did is reported at once. May
	// be nil.
	Reached *atomic.Bool
}

// Timeouts bound the phases of one request. Zero means the default, a negative
// value no limit.
type Timeouts struct {
	Connect time.Duration // to a connection, TLS included; default 30 s
	Header  time.Duration // from the request to the first response byte; default 5 min
	Idle    time.Duration // between two chunks of the stream; default 5 min
	Total   time.Duration // of the whole request; default none
}
