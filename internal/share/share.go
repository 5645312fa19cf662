package share

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/instance"
	"lathe/internal/provider"
	"lathe/internal/store"
)

// Remote says how sessions are published; without Encode they cannot be.
type Remote struct {
	// HTTP reaches the service; nil: a client of its own.
	HTTP *http.Client
	// Encode returns an object in the service's form, without secrets. It is one
	// of [lathe.Session], [lathe.Message], whose parts do not count, [lathe.Part],
	// [][lathe.FileDiff] and []*[provider.Model].
	Encode func(object any) (json.RawMessage, error)
}

// Options configure a [Service]. Everything but Remote is needed.
type Options struct {
	Remote
	Sessions  Sessions
	Instances *instance.Set
	Store     *store.Store
	Bus       *bus.Bus
	Log       *slog.Logger
}

// Sessions is what sharing needs from the sessions of this process.
type Sessions interface {
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	Update(ctx context.Context, id lathe.SessionID, change func(*lathe.Session) error) (lathe.Session, error)
	Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error)
}

// Service publishes sessions on a share service and keeps it up to date. It is safe
// for concurrent use.
type Service struct {
	opts     Options
	sessions Sessions
	queue    *queue
}

// New returns a service. Close it when the turns have ended.
func New(o Options) *Service {
	s := &Service{opts: o, sessions: o.Sessions}
	s.queue = newQueue(s)
	return s
}

// Close sends what is unsent, for a short time, and ends.
func (s *Service) Close() { s.queue.close() }

const hint = "let enterprise.url name a share service, or write a page that opens offline with: lathe share"

// Share publishes a session and returns once all of it has been sent; from then
// on changes follow. A session that is shared stays shared. If an error comes
// with a session whose Share is set, the service knows it but does not have its
// contents yet; they are sent again.
func (s *Service) Share(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	sess, err := s.sessions.Get(ctx, id)
	if err != nil {
		return sess, err
	}
	inst, err := s.opts.Instances.Get(ctx, sess.Directory)
	if err != nil {
		return sess, err
	}
	base, err := s.serviceOf(inst)
	if err != nil {
		return sess, err
	}
	if sess, err = s.publish(ctx, base, id); err != nil {
		return sess, err
	}
	if err := s.queue.sync(ctx, s.queue.follow(sess)); err != nil {
		return sess, lathe.Errorf(lathe.CodeProvider, "it is sent again with the next change", "session %s is shared, but could not be sent: %v", id, err)
	}
	return sess, nil
}

// serviceOf returns the address of the service that a directory uses.
func (s *Service) serviceOf(inst *instance.Instance) (string, error) {
	switch {
	case inst.Config.Share == "disabled":
		return "", lathe.Errorf(lathe.CodeInvalid, "set share to manual or auto in the configuration, and unset OPENCODE_DISABLE_SHARE", "sharing is disabled")
	case inst.Config.Enterprise.URL == "" || s.opts.Encode == nil:
		return "", lathe.Errorf(lathe.CodeInvalid, hint, "no share service is configured")
	}
	base, err := baseOf(inst.Config.Enterprise.URL)
	if err != nil {
		return "", lathe.Errorf(lathe.CodeInvalid, hint, "enterprise.url: %v", err)
	}
	return base, nil
}

// publish makes the session known to the service, once.
func (s *Service) publish(ctx context.Context, base string, id lathe.SessionID) (lathe.Session, error) {
	if err := s.queue.enter(ctx); err != nil {
		return lathe.Session{}, err
	}
	defer s.queue.leave()
	sess, err := s.sessions.Get(ctx, id)
	if err != nil || sess.Share != nil {
		return sess, err
	}
	sh, err := s.queue.api.create(ctx, base, id)
	if err != nil {
		return sess, lathe.Errorf(lathe.CodeProvider, hint, "share session %s on %s: %v", id, base, err)
	}
	shared, err := s.sessions.Update(ctx, id, func(x *lathe.Session) error {
		x.Share = &sh
		return nil
	})
	if err != nil { // otherwise nobody would ever know the secret
		_ = s.queue.api.remove(context.WithoutCancel(ctx), sh)
		return sess, err
	}
	return shared, nil
}

// Unshare withdraws a session from the service. With forget it succeeds even if
// the service cannot be reached; what is stored there then stays there.
func (s *Service) Unshare(ctx context.Context, id lathe.SessionID, forget bool) (lathe.Session, error) {
	if err := s.queue.enter(ctx); err != nil {
		return lathe.Session{}, err
	}
	defer s.queue.leave()
	sess, err := s.sessions.Get(ctx, id)
	if err != nil || sess.Share == nil {
		return sess, err
	}
	resume := s.queue.drop(id)
	if err := s.withdraw(ctx, *sess.Share); err != nil && !forget {
		resume()
		return sess, lathe.Errorf(lathe.CodeProvider, "try again later, or give it up with: lathe unshare --forget "+string(id),
			"session %s could not be taken back from %s: %v", id, sess.Share.URL, err)
	}
	return s.sessions.Update(ctx, id, func(x *lathe.Session) error {
		x.Share = nil
		return nil
	})
}

// withdraw takes a share back; one that another program made cannot be reached.
func (s *Service) withdraw(ctx context.Context, sh lathe.Share) error {
	if sh.Service == "" || sh.ID == "" {
		return nil
	}
	return s.queue.api.remove(ctx, sh)
}

// UnshareTree withdraws a session and those below it before they are deleted:
// afterwards nobody knows the secrets.
func (s *Service) UnshareTree(ctx context.Context, id lathe.SessionID) error {
	children, err := s.sessions.Children(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := s.UnshareTree(ctx, c.ID); err != nil {
			return err
		}
	}
	_, err = s.Unshare(ctx, id, false)
	return err
}

// Auto publishes a new session in the background if the person wants that for
// all sessions. A failure is only logged.
func (s *Service) Auto(inst *instance.Instance, sess lathe.Session) {
	if inst.Config.Share != "auto" || sess.ParentID != "" {
		return
	}
	base, err := s.serviceOf(inst)
	if err != nil {
		s.opts.Log.Warn("the session is not shared", "session", sess.ID, "err", err)
		return
	}
	s.queue.background(func(ctx context.Context) {
		shared, err := s.publish(ctx, base, sess.ID)
		if err == nil {
			err = s.queue.sync(ctx, s.queue.follow(shared))
		}
		if err != nil {
			s.opts.Log.Warn("the session could not be shared", "session", sess.ID, "err", err)
		}
	})
}

// Keep makes the service follow a session that an earlier process shared. It is
// called before each turn of such a session.
func (s *Service) Keep(ctx context.Context, inst *instance.Instance, known lathe.Session) {
	if known.Share == nil || inst.Config.Share == "disabled" || s.opts.Encode == nil {
		return
	}
	sess, err := s.sessions.Get(ctx, known.ID)
	if err != nil || sess.Share == nil || sess.Share.Service == "" {
		return
	}
	s.queue.follow(sess)
}

// models returns the models that answered in a session, as far as they are
// still known.
func (s *Service) models(sess lathe.Session, refs map[lathe.ModelRef]bool) []*provider.Model {
	inst := s.opts.Instances.Opened(context.Background(), sess.Directory)
	if inst == nil {
		return nil
	}
	var out []*provider.Model
	for ref := range refs {
		if m, err := inst.Models.Get(ref); err == nil {
			out = append(out, m)
		}
	}
	return out
}
