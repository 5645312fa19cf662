package wire

import (
	"encoding/json"
	"fmt"

	"lathe"
)

type failure struct {
	Name string      `json:"name"`
	Data failureData `json:"data"`
}

// failureData has the fields of all failures; the name says which count.
type failureData struct {
	ProviderID      *string           `json:"providerID,omitempty"`
	Message         *string           `json:"message,omitempty"`
	StatusCode      number            `json:"statusCode,omitempty"`
	IsRetryable     *bool             `json:"isRetryable,omitempty"`
	ResponseHeaders map[string]string `json:"responseHeaders,omitempty"`
	ResponseBody    string            `json:"responseBody,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	Retries         *number           `json:"retries,omitempty"`
}

// EncodeFailure returns the error of an assistant message, or nil for none. What
// OpenCode has no name for becomes an UnknownError.
func EncodeFailure(f lathe.Failure) any {
	if f == nil {
		return nil
	}
	return encodeFailure(f)
}

func encodeFailure(f lathe.Failure) *failure {
	plain := func(name, message string) *failure {
		return &failure{Name: name, Data: failureData{Message: &message}}
	}
	switch f := f.(type) {
	case nil:
		return nil
	case *lathe.AuthFailure:
		out := plain("ProviderAuthError", f.Message)
		out.Data.ProviderID = &f.Provider
		return out
	case *lathe.APIFailure:
		return &failure{Name: "APIError", Data: failureData{
			Message: &f.Message, StatusCode: count(f.Status), IsRetryable: &f.Retryable,
			ResponseHeaders: f.Headers, ResponseBody: f.Body, Metadata: f.Metadata,
		}}
	case *lathe.AbortedFailure:
		return plain("MessageAbortedError", f.Message)
	case *lathe.OverflowFailure:
		out := plain("ContextOverflowError", f.Message)
		out.Data.ResponseBody = f.Body
		return out
	case *lathe.OutputLengthFailure:
		return &failure{Name: "MessageOutputLengthError"}
	case *lathe.FilterFailure:
		return plain("ContentFilterError", f.Message)
	case *lathe.StructuredFailure:
		out, n := plain("StructuredOutputError", f.Message), count(f.Retries)
		out.Data.Retries = &n
		return out
	}
	return plain("UnknownError", f.Error())
}

// encodeRetried returns why a request was repeated. The contract has one name for
// that, whatever the reason was.
func encodeRetried(f lathe.Failure) *failure {
	out := encodeFailure(f)
	if out == nil || out.Name == "APIError" {
		return out
	}
	message, again := f.Error(), true
	return &failure{Name: "APIError", Data: failureData{Message: &message, IsRetryable: &again}}
}

// DecodeFailure reads the error of an assistant message. A name it does not know
// becomes an UnknownFailure.
func DecodeFailure(data []byte) (lathe.Failure, error) {
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("decode error: %w", err)
	}
	if f.Name == "" {
		return nil, fmt.Errorf("decode error: no name")
	}
	return f.decode(), nil
}

func (f *failure) decode() lathe.Failure {
	if f == nil {
		return nil
	}
	d := &f.Data
	message := deref(d.Message)
	switch f.Name {
	case "ProviderAuthError":
		return &lathe.AuthFailure{Provider: deref(d.ProviderID), Message: message}
	case "APIError":
		return &lathe.APIFailure{
			Message: message, Status: int(d.StatusCode), Retryable: deref(d.IsRetryable),
			Headers: d.ResponseHeaders, Body: d.ResponseBody, Metadata: d.Metadata,
		}
	case "MessageAbortedError":
		return &lathe.AbortedFailure{Message: message}
	case "ContextOverflowError":
		return &lathe.OverflowFailure{Message: message, Body: d.ResponseBody}
	case "MessageOutputLengthError":
		return &lathe.OutputLengthFailure{}
	case "ContentFilterError":
		return &lathe.FilterFailure{Message: message}
	case "StructuredOutputError":
		return &lathe.StructuredFailure{Message: message, Retries: int(deref(d.Retries))}
	}
	return &lathe.UnknownFailure{Message: message}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
