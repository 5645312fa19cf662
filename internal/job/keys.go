package job

import (
	"maps"
	"slices"
)

// keys are what terminals send for keys that have names.
var keys = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "backspace": "\x7f", "delete": "\x1b[3~",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pageup": "\x1b[5~", "pagedown": "\x1b[6~",
	"ctrl-a": "\x01", "ctrl-b": "\x02", "ctrl-c": "\x03", "ctrl-d": "\x04", "ctrl-e": "\x05", "ctrl-k": "\x0b",
	"ctrl-l": "\x0c", "ctrl-n": "\x0e", "ctrl-p": "\x10", "ctrl-r": "\x12", "ctrl-u": "\x15", "ctrl-w": "\x17",
	"ctrl-x": "\x18", "ctrl-z": "\x1a", `ctrl-\`: "\x1c",
}

// Keys lists the names of the keys that [Job.Key] knows.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }
