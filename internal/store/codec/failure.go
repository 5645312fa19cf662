package codec

import "lathe"

type failureDoc struct {
	Kind      string            `json:"kind"`
	Message   string            `json:"message,omitempty"`
	Provider  string            `json:"provider,omitempty"`
	Status    int               `json:"status,omitempty"`
	Retryable bool              `json:"retryable,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Body      string            `json:"body,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Retries   int               `json:"retries,omitempty"`
	Limit     string            `json:"limit,omitempty"`
}

func encodeFailure(f lathe.Failure) *failureDoc {
	switch f := f.(type) {
	case nil:
		return nil
	case *lathe.AuthFailure:
		return &failureDoc{Kind: "auth", Provider: f.Provider, Message: f.Message}
	case *lathe.APIFailure:
		return &failureDoc{
			Kind: "api", Message: f.Message, Status: f.Status, Retryable: f.Retryable,
			Headers: f.Headers, Body: f.Body, Metadata: f.Metadata,
		}
	case *lathe.AbortedFailure:
		return &failureDoc{Kind: "aborted", Message: f.Message}
	case *lathe.OverflowFailure:
		return &failureDoc{Kind: "overflow", Message: f.Message, Body: f.Body}
	case *lathe.OutputLengthFailure:
		return &failureDoc{Kind: "output-length"}
	case *lathe.FilterFailure:
		return &failureDoc{Kind: "filter", Message: f.Message}
	case *lathe.StructuredFailure:
		return &failureDoc{Kind: "structured", Message: f.Message, Retries: f.Retries}
	case *lathe.LimitFailure:
		return &failureDoc{Kind: "limit", Limit: f.Limit, Message: f.Message}
	}
	return &failureDoc{Kind: "unknown", Message: f.Error()}
}

// decodeFailure turns a failure of an unknown kind into an UnknownFailure.
func decodeFailure(d *failureDoc) lathe.Failure {
	if d == nil {
		return nil
	}
	switch d.Kind {
	case "auth":
		return &lathe.AuthFailure{Provider: d.Provider, Message: d.Message}
	case "api":
		return &lathe.APIFailure{
			Message: d.Message, Status: d.Status, Retryable: d.Retryable,
			Headers: d.Headers, Body: d.Body, Metadata: d.Metadata,
		}
	case "aborted":
		return &lathe.AbortedFailure{Message: d.Message}
	case "overflow":
		return &lathe.OverflowFailure{Message: d.Message, Body: d.Body}
	case "output-length":
		return &lathe.OutputLengthFailure{}
	case "filter":
		return &lathe.FilterFailure{Message: d.Message}
	case "structured":
		return &lathe.StructuredFailure{Message: d.Message, Retries: d.Retries}
	case "limit":
		return &lathe.LimitFailure{Limit: d.Limit, Message: d.Message}
	}
	return &lathe.UnknownFailure{Message: d.Message}
}
