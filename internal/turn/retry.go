package turn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"lathe"
	"lathe/internal/llm"
)

// next returns how long to wait before the n-th repetition, and whether there is one. The delay
// that a provider asks for is used unless it is longer than Longest; otherwise the delay doubles
// from Base up to Cap, with up to a quarter of jitter.
func (r Retries) next(n int, err error) (time.Duration, bool) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || !e.Retryable || n > r.Max {
		return 0, false
	}
	if e.RetryAfter >= 0 {
		return e.RetryAfter, e.RetryAfter <= r.Longest
	}
	d := time.Duration(math.Min(float64(r.Base)*math.Pow(2, float64(n-1)), float64(r.Cap)))
	return d + time.Duration(float64(d)*0.25*r.Jitter()), true
}

// explain adds to the failure why the request is not repeated again.
func (r Retries) explain(n int, failure lathe.Failure, err error) lathe.Failure {
	api, ok := failure.(*lathe.APIFailure)
	e, isLLM := errors.AsType[*llm.Error](err)
	if !ok || !isLLM || !e.Retryable {
		return failure
	}
	told := *api
	if n > r.Max {
		told.Message = fmt.Sprintf("%s; gave up after %d attempts", api.Message, n)
	} else {
		told.Message = fmt.Sprintf("%s; the provider asks to wait %s, longer than lathe waits (%s)",
			api.Message, e.RetryAfter.Round(time.Second), r.Longest)
	}
	return &told
}

// classify turns whatever ended a request into the failure that is stored.
func classify(ctx context.Context, err error, model lathe.ModelRef) lathe.Failure {
	if ctx.Err() != nil {
		return abortFailure(context.Cause(ctx))
	}
	if f, ok := errors.AsType[lathe.Failure](err); ok {
		return f
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return &lathe.UnknownFailure{Message: err.Error()}
	}
	switch e.Kind {
	case llm.KindAuth:
		return &lathe.AuthFailure{Provider: model.Provider, Message: fmt.Sprintf(
			"%s refused the credential: %s; set a valid key with: lathe auth login %s", model.Provider, e.Error(), model.Provider)}
	case llm.KindOverflow:
		return &lathe.OverflowFailure{Message: e.Error(), Body: e.Body}
	case llm.KindFilter:
		return &lathe.FilterFailure{Message: e.Error()}
	}
	return &lathe.APIFailure{
		Message: e.Message, Status: e.Status, Retryable: e.Retryable,
		Headers: flatten(e), Body: e.Body, Metadata: map[string]string{"kind": string(e.Kind)},
	}
}

// flatten returns the response's headers with their names in lower case, as
// OpenCode's clients read them.
func flatten(e *llm.Error) map[string]string {
	if len(e.Header) == 0 {
		return nil
	}
	out := make(map[string]string, len(e.Header))
	for k := range e.Header {
		if k != "Set-Cookie" {
			out[strings.ToLower(k)] = e.Header.Get(k)
		}
	}
	return out
}

func abortFailure(cause error) lathe.Failure {
	if errors.Is(cause, errTimeLimit) {
		return &lathe.LimitFailure{Limit: "time", Message: errTimeLimit.Error()}
	}
	if errors.Is(cause, ErrAborted) || errors.Is(cause, context.Canceled) {
		return &lathe.AbortedFailure{Message: "The operation was aborted."}
	}
	return &lathe.AbortedFailure{Message: cause.Error()}
}

// modelFailure explains a model that cannot be called.
func modelFailure(err error, model lathe.ModelRef) lathe.Failure {
	if lathe.CodeOf(err) == lathe.CodeAuth {
		return &lathe.AuthFailure{Provider: model.Provider, Message: withHint(err)}
	}
	return &lathe.UnknownFailure{Message: withHint(err)}
}

func withHint(err error) string {
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Hint != "" {
		return e.Error() + "; " + e.Hint
	}
	return err.Error()
}
