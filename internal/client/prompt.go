package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
)

// resend is the usual [Options].Resend.
const resend = 10 * time.Second

// prompts names what is sent. A prompt whose reply was lost may have been
// accepted; if sent again under the same name it is not accepted twice.
type prompts struct {
	ids *lathe.IDs

	mu     sync.Mutex
	unsure map[lathe.SessionID]unsure
}

// unsure is a prompt that may or may not have been accepted.
type unsure struct {
	body [sha256.Size]byte
	id   lathe.MessageID
}

func newPrompts() *prompts {
	return &prompts{ids: lathe.NewIDs(nil, nil), unsure: map[lathe.SessionID]unsure{}}
}

// name returns the identifier for a prompt: that of the last one of the session,
// if it is the same and its fate is not known.
func (p *prompts) name(id lathe.SessionID, body [sha256.Size]byte) lathe.MessageID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u, ok := p.unsure[id]; ok && u.body == body {
		return u.id
	}
	return p.ids.Message()
}

// sent notes how sending a prompt ended.
func (p *prompts) sent(id lathe.SessionID, u unsure, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, ErrUnreachable) {
		p.unsure[id] = u
	} else {
		delete(p.unsure, id)
	}
}

// seen notes that a message is stored: the same words are a new prompt from now on.
func (p *prompts) seen(session lathe.SessionID, id lathe.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unsure[session].id == id {
		delete(p.unsure, session)
	}
}

// Prompt asks for a turn and returns the message once it is stored; events report
// the rest, and [Client.Outcome] how it ended. A broken connection is
// re-established for a while; the prompt is accepted once, however often it is
// sent.
func (c turns) Prompt(ctx context.Context, id lathe.SessionID, p api.Prompt) (lathe.MessageID, error) {
	if p.MessageID == "" {
		raw, err := wire.Marshal(wire.EncodeOwnPrompt(p))
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(raw)
		p.MessageID = c.prompts.name(id, sum)
		m, err := c.persist(ctx, id, p)
		c.prompts.sent(id, unsure{sum, p.MessageID}, err)
		return m, err
	}
	return c.persist(ctx, id, p)
}

// persist sends a prompt until it is answered or the server stays away.
func (c turns) persist(ctx context.Context, id lathe.SessionID, p api.Prompt) (lathe.MessageID, error) {
	body := wire.EncodeOwnPrompt(p)
	for wait, spent := firstRetry, time.Duration(0); ; wait = min(2*wait, lastRetry) {
		out, err := post(ctx, c.conn, "/lathe"+sessionPath(id)+"/prompt", body, plain[struct{ MessageID lathe.MessageID }])
		if !errors.Is(err, ErrUnreachable) || spent+wait > c.resend {
			return out.MessageID, err
		}
		spent += wait
		if err := sleep(ctx, wait); err != nil {
			return "", err
		}
	}
}
