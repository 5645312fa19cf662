package server

import (
	"fmt"
	"strings"

	"lathe/internal/job"
	"lathe/internal/terminal"
)

// pty is what a client attaches to: a terminal of its own, or the terminal of a job.
type pty interface {
	Info() terminal.Info
	Write(data []byte) error
	Change(title string, rows, cols uint16) error
	// Remove ends it and returns when it has ended.
	Remove()
}

// ptyReader follows what it prints.
type ptyReader interface {
	Next(cancel <-chan struct{}) ([]byte, bool)
	Close()
}

func attachTo(p pty) ptyReader {
	switch p := p.(type) {
	case *terminal.Terminal:
		return p.Attach()
	case jobPTY:
		return &jobReader{out: p.job.Output(), at: max(0, p.job.Output().Total()-ptyHistory)}
	}
	panic(fmt.Sprintf("a terminal of type %T", p))
}

// ptyHistory is how much of a job's output is shown to a client that attaches.
const ptyHistory = 256 << 10

// ptyJob begins the identifiers of jobs' terminals; that of the job follows.
const ptyJob = "pty_job"

func jobPTYID(id string) string { return "pty_" + id }

// jobPTY is a job that has a terminal, as clients of terminals see it.
type jobPTY struct {
	jobs *job.Manager
	job  *job.Job
}

// jobTerminals returns the jobs of a directory that run and have a terminal.
func (s *Server) jobTerminals(dir string) (out []terminal.Info) {
	if s.opts.Jobs == nil {
		return nil
	}
	for _, j := range s.opts.Jobs.Of("") {
		if i := j.Brief(); i.Terminal && i.Running() && i.Directory == dir {
			out = append(out, jobPTY{s.opts.Jobs, j}.Info())
		}
	}
	return out
}

// jobTerminal returns the terminal of a job that runs.
func (s *Server) jobTerminal(id string) (jobPTY, bool) {
	if s.opts.Jobs == nil || !strings.HasPrefix(id, ptyJob) {
		return jobPTY{}, false
	}
	j, err := s.opts.Jobs.Get("", strings.TrimPrefix(id, "pty_"))
	if err != nil {
		return jobPTY{}, false
	}
	i := j.Brief()
	return jobPTY{s.opts.Jobs, j}, i.Terminal && i.Running()
}

func (p jobPTY) Info() terminal.Info {
	i := p.job.Brief()
	title := i.Title
	if title == "" {
		title = i.Command
	}
	return terminal.Info{
		ID: jobPTYID(i.ID), Title: title, Command: i.Command, Args: []string{}, Dir: i.Dir, Directory: i.Directory, PID: i.PID,
		Exited: !i.Running(), Code: i.Exit.Code,
	}
}

func (p jobPTY) Write(data []byte) error { return p.job.Write(data) }

func (p jobPTY) Change(title string, rows, cols uint16) error {
	if rows != 0 && cols != 0 {
		if err := p.job.Resize(rows, cols); err != nil {
			return err
		}
	}
	if title != "" {
		p.job.Rename(title)
	}
	return nil
}

// Remove stops the job for the person; its model is told.
func (p jobPTY) Remove() { p.jobs.Stop(p.job) }

// jobReader reads the output of a job by its position, so that a slow client costs
// nothing.
type jobReader struct {
	out *job.Output
	at  int64
}

func (r *jobReader) Next(cancel <-chan struct{}) ([]byte, bool) {
	buf := make([]byte, 32<<10)
	for {
		n, at, over, err := r.out.Read(buf, r.at)
		if err != nil {
			return nil, false
		}
		if r.at = at + int64(n); n > 0 {
			return buf[:n], true
		}
		if over {
			return nil, false
		}
		select {
		case <-r.out.Next(r.at):
		case <-cancel:
			return nil, false
		}
	}
}

func (r *jobReader) Close() {}
