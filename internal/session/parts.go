package session

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
)

// chatMessage passes a prompt through the plugins' hooks.
func (i *intake) chatMessage(ctx context.Context, parts []lathe.PartBody) ([]lathe.PartBody, error) {
	hooks := i.inst.Hooks
	if !hooks.Has() {
		return parts, nil
	}
	info := i.m.Info.(*lathe.User)
	out, err := hooks.ChatMessage(ctx, plugin.ChatMessageInput{SessionID: i.m.SessionID, MessageID: i.m.ID, Agent: info.Agent, Model: info.Model},
		plugin.ChatMessage{User: *info, Parts: parts})
	if refused, ok := errors.AsType[*plugin.Refusal](err); ok {
		return nil, lathe.Errorf(lathe.CodePermission, "change the prompt, or the hook (see: lathe plugin list)", "the hook %s refused the prompt: %s", refused.Plugin, refused.Reason)
	}
	out.User.Agent, out.User.Model = info.Agent, info.Model // these have been checked
	i.m.Info = &out.User
	return out.Parts, err
}

// expandMention stores an "@agent" together with what it means.
func (i *intake) expandMention(b *lathe.AgentMention) ([]lathe.PartBody, error) {
	caller, err := i.inst.Agents.Get(i.m.Info.(*lathe.User).Agent)
	if err != nil {
		return nil, err
	}
	note, err := mentionNote(i.inst, b.Name, caller)
	if err != nil {
		return nil, err
	}
	return []lathe.PartBody{b, synthetic(note)}, nil
}

// expandData expands an attachment that is not a file of this machine: text is
// shown as if it had been read, pictures are made to fit.
func (i *intake) expandData(f *lathe.File) ([]lathe.PartBody, error) {
	data, ok := prompt.DataURL(f.URL)
	if !ok {
		if strings.HasPrefix(f.URL, "data:") {
			return nil, lathe.Errorf(lathe.CodeInvalid, "encode it as base64", "the attachment %q is not a data URL", f.Filename)
		}
		return []lathe.PartBody{f}, nil
	}
	if len(data) > maxMedia {
		return nil, lathe.Errorf(lathe.CodeInvalid, "attach a smaller file", "the attachment %q has %d bytes; at most %d are sent", f.Filename, len(data), maxMedia)
	}
	if base, _, _ := strings.Cut(f.MIME, ";"); base == "text/plain" {
		text := strings.ToValidUTF8(string(data), "\uFFFD")
		return []lathe.PartBody{synthetic(readNote(map[string]any{"filePath": f.Filename})), synthetic(text), f}, nil
	}
	file := *f
	if err := fitPicture(i.inst, &file, data); err != nil {
		return nil, err
	}
	return []lathe.PartBody{&file}, nil
}

// fitPicture puts the content into a file, after shrinking a picture that is too
// large.
func fitPicture(i *instance.Instance, file *lathe.File, data []byte) error {
	if !strings.HasPrefix(file.MIME, "image/") || file.MIME == "image/svg+xml" {
		return nil
	}
	fit, mime, err := limitsOfImages(i.Config.Attachment).normalise(data, file.MIME)
	if err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "attach a smaller picture, or another format", "attach %s: %v", file.Filename, err)
	}
	file.MIME, file.URL = mime, "data:"+mime+";base64,"+base64.StdEncoding.EncodeToString(fit)
	return nil
}
