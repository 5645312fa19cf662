package run

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"lathe/internal/api"
	"lathe/internal/cli/console"
)

// tellJobs says what happens to the session's jobs when the run is over: they end
// with an engine in this process unless they are to be kept, and keep running in a
// server.
func (v *view) tellJobs(ctx context.Context) {
	if v.c.App != nil && v.c.App.Jobs.Running(v.root.ID) == 0 {
		return
	}
	if v.c.App != nil && v.opts.keepJobs {
		v.keepJobs()
		return
	}
	jobs, err := v.c.Jobs(ctx, api.JobFilter{SessionID: v.root.ID})
	if err != nil {
		return
	}
	for _, j := range jobs {
		if !j.Running {
			continue
		}
		name := j.ID + " (" + console.OneLine(j.Command, 80) + ")"
		if ports := console.PortList(j.Ports); ports != "" {
			name += ", listening on " + ports
		}
		if v.c.App != nil {
			v.out.Notice("stopping " + name)
		} else {
			v.out.Notice(name + " goes on in the server; stop it with: lathe job stop " + j.ID + v.there())
		}
	}
}

// there is how a command that follows names the server that this run used, without a password.
func (v *view) there() string {
	if v.opts.attach == "" || v.opts.attach == "auto" {
		return ""
	}
	var all []string
	for _, address := range strings.Split(v.opts.attach, ",") {
		if u, err := url.Parse(address); err == nil && u.User != nil {
			u.User = nil
			address = u.String()
		}
		all = append(all, address)
	}
	return " --attach " + strings.Join(all, ",")
}

// keepJobs leaves the running jobs of the session to the person, and says how to reach
// them. One that cannot be left is stopped.
func (v *view) keepJobs() {
	a := v.c.App
	for _, j := range a.Jobs.Of(v.root.ID) {
		info := j.Info()
		if !info.Running() {
			continue
		}
		name := info.ID + " (" + console.OneLine(info.Command, 80) + ")"
		k, err := a.Jobs.HandOver(j)
		if err != nil {
			v.out.Warning(fmt.Sprintf("%s cannot be kept and is stopped: %v", name, err))
			continue
		}
		if ports := console.PortList(k.Ports); ports != "" {
			name += ", listening on " + ports
		}
		v.out.Notice(fmt.Sprintf("%s goes on as %s; its output: lathe job logs %s, its end: lathe job stop %s", name, k.ID, k.ID, k.ID))
	}
}
