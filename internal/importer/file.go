package importer

import (
	"context"
	"encoding/json"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/disk"
	"lathe/internal/opencode/wire"
	"lathe/internal/session"
	"lathe/internal/workspace"
)

// maxExport bounds an exported session.
const maxExport = 1 << 30

// file takes in one exported session, into a directory.
func (i Importer) file(ctx context.Context, dir, path string, tell func(api.ImportNews) error) error {
	in, err := i.read(ctx, dir, path)
	if err != nil {
		return err
	}
	id := in.Session.ID
	out, err := i.known(ctx, in)
	if err == nil && out == "" {
		out, err = i.Service.Importer.Add(ctx, in)
	}
	if err == nil && out == session.ImportKept {
		i.Service.Importer.NewIDs(&in)
		id = in.Session.ID
		out, err = i.Service.Importer.Add(ctx, in)
	}
	if err != nil {
		return err
	}
	one := api.ImportedSession{ID: id, Outcome: string(out), Messages: len(in.Messages), Read: in.Hash}
	for _, m := range in.Messages {
		one.Parts += len(m.Parts)
	}
	if err := tell(api.ImportNews{Session: &one}); err != nil {
		return err
	}
	return tell(api.ImportNews{Sum: &api.ImportSum{Export: true, Sessions: 1, Messages: one.Messages, Parts: one.Parts, Outcomes: map[string]int{one.Outcome: 1}}})
}

// read returns the session of a file as it is to be stored in a directory.
func (i Importer) read(ctx context.Context, dir, path string) (session.Import, error) {
	raw, err := workspace.ReadFile(path, maxExport)
	if err != nil {
		return session.Import{}, err
	}
	in, err := decodeExport(raw)
	if err != nil {
		return in, lathe.Errorf(lathe.CodeInvalid, "it must have been written by: lathe export, or opencode export", "import %s: %v", path, err)
	}
	inst, err := i.Service.Instance(ctx, dir)
	if err != nil {
		return in, err
	}
	in.Session.Directory, in.Session.ProjectID = dir, inst.Project.ID
	in.Session.Rules = nil
	if r := in.Session.Revert; r != nil { // what it hid stays hidden; the files are elsewhere
		in.Session.Revert = &lathe.Revert{MessageID: r.MessageID, PartID: r.PartID}
	}
	in.Hash, err = disk.Hash(in.Messages)
	return in, err
}

// known reports [session.ImportSame] for a session that is here with the same messages,
// however it came here.
func (i Importer) known(ctx context.Context, in session.Import) (session.Imported, error) {
	have, err := i.Service.Messages(ctx, in.Session.ID, 0)
	if err != nil || len(have) == 0 {
		return "", nil // it is not here, or what is here cannot be read: Add says so
	}
	if hash, err := disk.Hash(have); err != nil || hash != in.Hash {
		return "", err
	}
	return session.ImportSame, nil
}

func decodeExport(raw []byte) (in session.Import, err error) {
	var doc struct {
		Info     json.RawMessage   `json:"info"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return in, err
	}
	if in.Session, err = wire.DecodeSession(doc.Info); err != nil {
		return in, err
	}
	for _, m := range doc.Messages {
		msg, err := wire.DecodeMessage(m)
		if err != nil {
			return in, err
		}
		msg.SessionID = in.Session.ID
		in.Messages = append(in.Messages, msg)
	}
	return in, nil
}
