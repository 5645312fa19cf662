// Package telemetry tells an OpenTelemetry collector what a server does: a span
// for every request, and for every turn one with its steps and tool calls in it.
//
// It is in the binary only when that is built with the tag otel, and does
// something only where the environment names a collector (the standard OTEL_*
// variables, such as OTEL_EXPORTER_OTLP_ENDPOINT). Spans carry names, times,
// counts and identifiers; prompts, answers, arguments and outputs never.
package telemetry

import (
	"log/slog"

	"lathe/internal/bus"
)

// Options say what is told of, and who tells.
type Options struct {
	Bus     *bus.Bus
	Getenv  func(string) string
	Version string
	Log     *slog.Logger
}
