package app

import (
	"encoding/json"
	"fmt"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/provider"
	"lathe/internal/transcript"
)

// sharedModel is what a shared session says about a model.
type sharedModel struct {
	ID         string `json:"id"`
	ProviderID string `json:"providerID"`
	Name       string `json:"name"`
}

// encodeShared returns an object as a share service expects it, without secrets.
func encodeShared(object any) (json.RawMessage, error) {
	switch o := object.(type) {
	case lathe.Session:
		return wire.Marshal(wire.EncodeSession(transcript.Redacted(transcript.Session{Info: o}).Info))
	case lathe.Message:
		return wire.Marshal(wire.EncodeInfo(transcript.Redacted(transcript.Session{Messages: []lathe.Message{o}}).Messages[0]))
	case lathe.Part:
		m := lathe.Message{Parts: []lathe.Part{o}}
		return wire.Marshal(wire.EncodePart(transcript.Redacted(transcript.Session{Messages: []lathe.Message{m}}).Messages[0].Parts[0]))
	case []lathe.FileDiff:
		return wire.Marshal(wire.EncodeDiffs(transcript.Redacted(transcript.Session{Diffs: o}).Diffs))
	case []*provider.Model:
		out := make([]sharedModel, 0, len(o))
		for _, m := range o {
			out = append(out, sharedModel{m.Ref.Model, m.Ref.Provider, m.Name})
		}
		return wire.Marshal(out)
	}
	return nil, fmt.Errorf("share a %T", object)
}
