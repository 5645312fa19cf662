package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/job"
	"lathe/internal/order"
)

// jobs answers the routes for jobs.
type jobs struct{ *call }

func (s *Server) jobRoutes() []route {
	const (
		get, post = http.MethodGet, http.MethodPost
		one       = "/lathe/job/{jobID}"
	)
	return []route{
		{get, "/lathe/job", on(jobs.list), ""},
		{get, one, on(jobs.get), ""},
		{get, one + "/output", on(jobs.output), ""},
		{post, one + "/input", on(jobs.input), ""},
		{post, one + "/size", on(jobs.size), ""},
		{post, one + "/stop", on(jobs.stop), ""},
		{post, "/lathe/session/{sessionID}/keep", on(jobs.keep), ""},
	}
}

// list answers the jobs of this server and of those that share its store, oldest first.
func (c jobs) list() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	all := append(c.own(dir), c.elsewhere(dir)...)
	seen, may := map[string]bool{}, map[string]bool{}
	out := []api.Job{}
	for _, j := range all {
		if _, asked := may[j.Directory]; !asked {
			may[j.Directory] = c.mayUse(j.Directory) == nil
		}
		if may[j.Directory] && !seen[j.ID] { // servers of one machine recall the same ones
			seen[j.ID] = true
			out = append(out, j)
		}
	}
	order.Stable(out, func(a, b api.Job) int { return cmp.Compare(a.Started, b.Started) })
	return out, nil
}

func (c jobs) own(dir string) (out []api.Job) {
	if c.s.opts.Jobs == nil {
		return nil
	}
	session := lathe.SessionID(c.query("session"))
	c.s.opts.Jobs.Recall(session)
	for _, j := range c.s.opts.Jobs.Of(session) {
		info := j.Info()
		if session != "" || c.query("all") == "true" || info.Directory == dir {
			out = append(out, encodeJob(info))
		}
	}
	return out
}

func (c jobs) elsewhere(dir string) (out []api.Job) {
	if c.s.opts.Elsewhere == nil {
		return nil
	}
	for _, body := range c.s.opts.Elsewhere.Gather(c.about(dir).r) {
		var theirs []api.Job
		if json.Unmarshal(body, &theirs) == nil {
			out = append(out, theirs...)
		}
	}
	return out
}

func encodeJob(i job.Info) api.Job {
	out := api.Job{
		ID: i.ID, SessionID: i.Session, CallID: i.CallID, Command: i.Command, Title: i.Title, Dir: i.Dir, Directory: i.Directory, PID: i.PID,
		Terminal: i.Terminal, Left: i.Left, Running: i.Running(), State: i.End(), Started: i.Started.UnixMilli(), Code: i.Exit.Code,
		Ports: i.Ports, Output: i.Output, Path: i.Path, Files: i.Files,
	}
	if !i.Running() {
		out.Ended = i.Ended.UnixMilli()
	}
	return out
}

func (c jobs) find() (*job.Job, error) {
	id := c.r.PathValue("jobID")
	if c.s.opts.Jobs != nil {
		if j, err := c.s.opts.Jobs.Get("", id); err == nil {
			return j, c.mayUse(j.Info().Directory)
		}
	}
	return nil, notFound("there is no job %q", clip(id, 64))
}

// change returns the job of a request that changes it, if the caller may change its session.
func (c jobs) change() (*job.Job, error) {
	j, err := c.find()
	if err == nil {
		err = c.mayChange(j.Info().Session)
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

func (c jobs) get() (any, error) {
	j, err := c.find()
	if err != nil {
		return nil, err
	}
	return encodeJob(j.Info()), nil
}

// output answers what a job has printed, from a position on, as it came. With follow
// it goes on until the job ends or the client leaves.
func (c jobs) output() (any, error) {
	j, err := c.find()
	if err != nil {
		return nil, err
	}
	from, err := c.number("from")
	if err != nil {
		return nil, err
	}
	if c.query("piece") == "true" {
		return c.piece(j.Output(), from)
	}
	buf := make([]byte, 32<<10)
	n, at, over, err := j.Output().Read(buf, from)
	if err != nil {
		return nil, err
	}
	follow := c.query("follow") == "true"
	rc := http.NewResponseController(c.w)
	_ = rc.SetReadDeadline(time.Time{})
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set(api.JobOutputFrom, strconv.FormatInt(at, 10))
	for {
		if _, err := c.w.Write(buf[:n]); err != nil {
			return done{}, nil
		}
		if at += int64(n); n == 0 {
			if over || !follow || rc.Flush() != nil {
				return done{}, nil
			}
			select {
			case <-j.Output().Next(at):
			case <-c.ctx().Done():
				return done{}, nil
			}
		}
		if n, at, over, err = j.Output().Read(buf, at); err != nil {
			return done{}, nil
		}
	}
}

// pieceWait is how long a piece of output is waited for.
const pieceWait = 20 * time.Second

// piece answers one piece of output for another server, which asks for the next one when its
// client has read this. With follow it waits a while for something to be there.
func (c jobs) piece(out *job.Output, from int64) (any, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), pieceWait)
	defer cancel()
	buf := make([]byte, 256<<10)
	for {
		n, at, over, err := out.Read(buf, from)
		if err != nil {
			return nil, err
		}
		if n == 0 && !over && c.query("follow") == "true" && ctx.Err() == nil {
			select {
			case <-out.Next(at):
			case <-ctx.Done():
			}
			continue
		}
		h := c.w.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set(api.JobOutputFrom, strconv.FormatInt(at, 10))
		h.Set(api.JobOutputOver, strconv.FormatBool(over))
		_, _ = c.w.Write(buf[:n]) // who asked has left
		return done{}, nil
	}
}

// input types into a job for the person: nobody is asked.
func (c jobs) input() (any, error) {
	j, err := c.change()
	if err != nil {
		return nil, err
	}
	var in api.JobInput
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.Data != "" {
		err = j.Write([]byte(in.Data))
	}
	for _, key := range in.Keys {
		if err == nil {
			err = j.Key(key)
		}
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "%s: %v", j.ID(), err)
	}
	return true, nil
}

func (c jobs) size() (any, error) {
	j, err := c.change()
	if err != nil {
		return nil, err
	}
	var in api.JobSize
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if in.Rows == 0 || in.Cols == 0 || in.Rows > 4096 || in.Cols > 4096 {
		return nil, badPayload("expected 1 to 4096 rows and cols")
	}
	if err := j.Resize(in.Rows, in.Cols); err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "%s: %v", j.ID(), err)
	}
	return true, nil
}

// stop answers when all of the job is gone. The model is told.
func (c jobs) stop() (any, error) {
	j, err := c.change()
	if err != nil {
		return nil, err
	}
	c.s.opts.Jobs.Stop(j)
	return encodeJob(j.Info()), nil
}

// keep lets the running command of a call go on as a job.
func (c jobs) keep() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.KeepCall
	if err := c.need(&in); err != nil {
		return nil, err
	}
	err = job.ErrNotFound
	if c.s.opts.Jobs != nil {
		err = c.s.opts.Jobs.Keep(sess.ID, in.CallID)
	}
	if errors.Is(err, job.ErrNotFound) {
		return nil, notFound("no command is running that could be kept")
	}
	return err == nil, err
}
