package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/job"
	"lathe/internal/project"
	"lathe/internal/share"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// Options configure a [Service]. Store, Bus and Open are needed.
type Options struct {
	Store *store.Store
	Bus   *bus.Bus
	// Writer changes the store and publishes on the bus; nil: one is made.
	// Everything in this process that writes to the store uses the same Writer.
	Writer *commit.Writer
	IDs    *lathe.IDs
	Now    func() time.Time
	Log    *slog.Logger
	// Open makes the instance of a directory; it is called once for each.
	Open func(ctx context.Context, dir string) (*instance.Instance, error)
	// Jobs are the sessions' processes that outlive their calls; nil: there are none.
	// Its owner closes it after the service.
	Jobs *job.Manager
	// Retries overrides how failed model requests are repeated.
	Retries turn.Retries
	// Owner identifies this process in leases.
	Owner store.Owner
	// Sharing publishes sessions; with the zero value it cannot be done.
	Sharing share.Remote
	// Changed calls a function each time other processes may have written to the store, until
	// the context ends; nil: nobody tells. It is not called before [Service.Attend].
	Changed func(ctx context.Context, changed func()) error
}

// Service owns the sessions of a process. It is safe for concurrent use. Its methods are
// what one asks of a session; separate subjects have types of their own, and it has a field
// for each, which is why there are so many.
type Service struct {
	Instances *instance.Set    // what directories are equipped with
	Questions *Questions       // those that are waiting for an answer
	Shares    *share.Service   // publishes sessions
	Projects  *project.Service // projects and worktrees
	Importer  *Importer        // imports sessions from elsewhere
	Editor    *Editor          // changes what is stored of sessions
	Undo      *Undo            // undoes what sessions did to files
	Diffs     *Diffs           // says what sessions changed
	Windows   *Windows         // what models see of sessions
	Turns     *Turns           // the turns running in this process
	Helpers   *Helpers         // subagents that work beside their callers
	Lessons   *Lessons         // proposes lines for a project's instructions
	Designs   *Designs         // lets models design agents
	Notes     *Notes           // what a person noted about sessions
	Modes     *Modes           // how much sessions ask before something is done

	opts Options
	ctx  context.Context // ends all turns
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu        sync.Mutex
	runners   map[lathe.SessionID]*runner
	owed      *debts
	elsewhere elsewhere
	attended  attended
	helpers   helpers
	statuses  *statuses
	handing   handing
	losses    losses
}

// New returns a service. Close it to end its turns.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Writer == nil {
		o.Writer = commit.New(o.Store, o.Bus)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IDs == nil {
		o.IDs = lathe.NewIDs(o.Now, nil)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Service{
		opts: o, ctx: ctx, stop: stop,
		runners: map[lathe.SessionID]*runner{},
	}
	s.statuses = newStatuses(o.Bus)
	s.owed = &debts{store: o.Store, owner: o.Owner, log: o.Log, ctx: ctx, wg: &s.wg}
	s.Instances = instance.NewSet(s.open)
	s.Questions = &Questions{writer: o.Writer, ids: o.IDs}
	s.Importer, s.Editor, s.Undo, s.Diffs = &Importer{s}, &Editor{s}, &Undo{s}, &Diffs{s}
	s.Modes, s.Notes = &Modes{s: s}, &Notes{s: s}
	s.Windows, s.Turns, s.Helpers, s.Lessons, s.Designs = &Windows{s}, &Turns{s}, &Helpers{s}, &Lessons{s}, &Designs{s}
	s.Projects = project.New(project.Options{Sessions: s, Instances: s.Instances, Store: o.Store, Writer: o.Writer, Log: o.Log, Now: o.Now, NewName: newSlug})
	s.Shares = share.New(share.Options{Remote: o.Sharing, Sessions: s, Instances: s.Instances, Store: o.Store, Bus: o.Bus, Log: o.Log})
	return s
}

// Close aborts the running turns, waits until they have recorded their end, and
// closes the instances. It does not close the store or the bus.
func (s *Service) Close() error {
	s.stop(turn.ErrAborted)
	s.Projects.Close()
	s.wg.Wait()
	s.statuses.close()
	s.Shares.Close()
	return s.Instances.Close()
}

func (s *Service) open(ctx context.Context, dir string) (*instance.Instance, error) {
	inst, err := s.opts.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	inst.Serve(sessions{s})
	if err := listen(ctx, s, inst); err != nil {
		return nil, errors.Join(err, inst.Close())
	}
	if err := note(ctx, s.opts, inst.Project); err != nil {
		return nil, errors.Join(err, inst.Close())
	}
	return inst, nil
}

// note stores a project. What is known of it can be read where the store cannot be written.
func note(ctx context.Context, o Options, p lathe.Project) error {
	err := o.Writer.Commit(ctx, func(tx *commit.Tx) error { return tx.PutProject(p) })
	if errors.Is(err, store.ErrReadOnly) {
		if _, unknown := o.Store.Project(ctx, p.ID); unknown == nil {
			return nil
		}
	}
	return err
}

// Create says what session to create. Directory is required.
type Create struct {
	Directory string
	ParentID  lathe.SessionID
	Title     string
	Rules     []lathe.Rule
	Agent     string
	Helper    *lathe.Helper // how it works beside its parent, for a subagent
}

// titlePrefix begins the title of a session that has not been named yet.
const (
	titlePrefix      = "New session - "
	childTitlePrefix = "Child session - "
)

// Instance returns a directory's instance, making it on first use.
func (s *Service) Instance(ctx context.Context, dir string) (*instance.Instance, error) {
	return s.Instances.Get(ctx, dir)
}

// Create makes a session.
func (s *Service) Create(ctx context.Context, c Create) (lathe.Session, error) {
	inst, err := s.Instance(ctx, c.Directory)
	if err != nil {
		return lathe.Session{}, err
	}
	inst.Surroundings.Expect()
	now := s.opts.Now()
	sess := lathe.Session{
		ID: s.opts.IDs.Session(), Slug: newSlug(), ProjectID: inst.Project.ID, Directory: c.Directory,
		ParentID: c.ParentID, Title: c.Title, Version: lathe.Version, Created: now, Updated: now,
		Rules: c.Rules, Agent: c.Agent, Helper: c.Helper,
	}
	if sess.Title == "" {
		sess.Title = defaultTitle(c.ParentID != "", now)
	}
	err = s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		tx.Tell(sess.Directory, lathe.SessionCreated{Session: sess}, lathe.SessionUpdated{Session: sess})
		return tx.CreateSession(sess)
	})
	if err != nil {
		return lathe.Session{}, err
	}
	s.Shares.Auto(inst, sess)
	return sess, nil
}

func defaultTitle(child bool, now time.Time) string {
	prefix := titlePrefix
	if child {
		prefix = childTitlePrefix
	}
	return prefix + now.UTC().Format("2006-01-02T15:04:05.000Z")
}

var (
	slugAdjectives = [...]string{"amber", "brave", "calm", "clear", "deep", "eager", "fair", "gentle", "happy", "keen", "light", "lucky", "mild", "neat", "proud", "quick", "quiet", "ready", "sharp", "solid", "steady", "swift", "warm", "wise"}
	slugNouns      = [...]string{"anvil", "arbor", "bench", "bolt", "chisel", "chuck", "drill", "file", "gauge", "gear", "hammer", "jig", "lever", "mandrel", "mill", "pulley", "ratchet", "rivet", "saw", "shaft", "spindle", "tool", "vise", "wrench"}
)

// newSlug returns two readable words; it need not be unique.
func newSlug() string {
	return slugAdjectives[rand.IntN(len(slugAdjectives))] + "-" + slugNouns[rand.IntN(len(slugNouns))]
}

// Get returns a session.
func (s *Service) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	sess, err := s.opts.Store.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return sess, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session list", "there is no session %q", id)
	}
	return sess, err
}

// List returns sessions, newest first.
func (s *Service) List(ctx context.Context, f store.SessionFilter) ([]lathe.Session, error) {
	return s.opts.Store.Sessions(ctx, f)
}

// Update changes a session's own fields and publishes the change.
func (s *Service) Update(ctx context.Context, id lathe.SessionID, change func(*lathe.Session) error) (sess lathe.Session, err error) {
	err = s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		sess, err = tx.UpdateSession(id, change)
		tx.Tell(sess.Directory, lathe.SessionUpdated{Session: sess})
		return err
	})
	return sess, err
}

// Messages returns all messages of a session with their parts, oldest first.
func (s *Service) Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error) {
	var out []lathe.Message
	for m, err := range s.opts.Store.Messages(ctx, id, store.MessageFilter{Limit: limit}) {
		if err != nil {
			return nil, fmt.Errorf("read messages of %s: %w", id, err)
		}
		out = append(out, m)
	}
	reverse(out)
	return out, nil
}

func reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Subscribe returns the events that the filter lets through, from now on.
func (s *Service) Subscribe(ctx context.Context, f bus.Filter) *bus.Subscription {
	return s.opts.Bus.Subscribe(ctx, f, bus.Limits{})
}

// Todos returns a session's task list.
func (s *Service) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return s.opts.Store.Todos(ctx, id)
}
