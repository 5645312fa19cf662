package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
)

// Jobs lists the processes that live on, oldest first.
func (c jobs) Jobs(ctx context.Context, f api.JobFilter) ([]api.Job, error) {
	q := url.Values{}
	if f.SessionID != "" {
		q.Set("session", string(f.SessionID))
	}
	if f.All {
		q.Set("all", "true")
	}
	return get(ctx, c.conn, "/lathe/job", q, plain[[]api.Job])
}

// JobOutput returns the output of a job from a position on, and where what is
// returned begins. With follow it goes on until the job ends. The caller closes it.
func (c jobs) JobOutput(ctx context.Context, id string, from int64, follow bool) (out io.ReadCloser, at int64, err error) {
	q := url.Values{"from": {strconv.FormatInt(from, 10)}, "follow": {strconv.FormatBool(follow)}}
	resp, err := c.request(ctx, http.MethodGet, jobPath(id)+"/output", q, nil)
	if err != nil {
		return nil, 0, err
	}
	at, _ = strconv.ParseInt(resp.Header.Get(api.JobOutputFrom), 10, 64)
	return resp.Body, at, nil
}

// TypeJob types into a job.
func (c jobs) TypeJob(ctx context.Context, id string, in api.JobInput) error {
	_, err := c.call(ctx, http.MethodPost, jobPath(id)+"/input", nil, in)
	return err
}

// ResizeJob changes the size of a job's terminal.
func (c jobs) ResizeJob(ctx context.Context, id string, size api.JobSize) error {
	_, err := c.call(ctx, http.MethodPost, jobPath(id)+"/size", nil, size)
	return err
}

// StopJob ends a job and returns how it ended.
func (c jobs) StopJob(ctx context.Context, id string) (api.Job, error) {
	return post(ctx, c.conn, jobPath(id)+"/stop", struct{}{}, plain[api.Job])
}

// KeepCall lets the running command of a tool call go on as a job.
func (c jobs) KeepCall(ctx context.Context, id lathe.SessionID, callID string) error {
	_, err := c.call(ctx, http.MethodPost, "/lathe"+sessionPath(id)+"/keep", nil, api.KeepCall{CallID: callID})
	return err
}

func jobPath(id string) string { return "/lathe/job/" + url.PathEscape(id) }
