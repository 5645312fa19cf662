package server

import (
	"fmt"

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
		return p.job.Attach()
	}
	panic(fmt.Sprintf("a terminal of type %T", p))
}

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
	if s.opts.Jobs == nil {
		return jobPTY{}, false
	}
	j, err := s.opts.Jobs.Terminal(id)
	return jobPTY{s.opts.Jobs, j}, err == nil
}

func (p jobPTY) Info() terminal.Info {
	i := p.job.Brief()
	title := i.Title
	if title == "" {
		title = i.Command
	}
	return terminal.Info{
		ID: job.TerminalID(i.ID), Title: title, Command: i.Command, Args: []string{}, Dir: i.Dir, Directory: i.Directory, PID: i.PID,
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
