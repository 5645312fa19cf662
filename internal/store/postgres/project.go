package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store/codec"
)

// projects is a [store.ProjectReader].
type projects struct{ *core }

const projectColumns = `id, worktree, vcs, created, updated, data`

func projectArgs(p *lathe.Project) ([]any, error) {
	data, err := codec.Project(p)
	return []any{clean(p.ID), clean(p.Worktree), p.VCS, codec.Millis(p.Created), codec.Millis(p.Updated), data}, err
}

// PutProject implements [store.Tx].
func (tx *tx) PutProject(p lathe.Project) error {
	args, err := projectArgs(&p)
	if err == nil {
		_, err = tx.exec(`INSERT INTO project AS p (`+projectColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET worktree = excluded.worktree, vcs = excluded.vcs,
				created = least(p.created, excluded.created), updated = excluded.updated,
				data = CASE WHEN p.data = '{}'::bytea THEN excluded.data ELSE p.data END`, args...)
	}
	if err != nil {
		return fmt.Errorf("store project %s: %w", p.ID, err)
	}
	return nil
}

// UpdateProject implements [store.Tx].
func (tx *tx) UpdateProject(id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	p, err = scanProject(tx.row(`SELECT `+projectColumns+` FROM project WHERE id = $1 FOR UPDATE`, clean(id)))
	if err != nil {
		return lathe.Project{}, fmt.Errorf("update project %s: %w", id, missing(err))
	}
	if err := change(&p); err != nil {
		return lathe.Project{}, err
	}
	p.ID = id
	args, err := projectArgs(&p)
	if err == nil {
		err = tx.change(`UPDATE project SET worktree = $2, vcs = $3, created = $4, updated = $5, data = $6 WHERE id = $1`, args...)
	}
	if err != nil {
		return lathe.Project{}, fmt.Errorf("update project %s: %w", id, err)
	}
	return p, nil
}

func scanProject(row pgx.Row) (p lathe.Project, err error) {
	var created, updated int64
	var data []byte
	if err = row.Scan(&p.ID, &p.Worktree, &p.VCS, &created, &updated, &data); err != nil {
		return p, err
	}
	p.Created, p.Updated = codec.At(created), codec.At(updated)
	return p, codec.ParseProject(data, &p)
}

// Project implements [store.ProjectReader].
func (s projects) Project(ctx context.Context, id string) (p lathe.Project, err error) {
	err = s.read(ctx, func(v *view) error {
		p, err = scanProject(v.row(`SELECT `+projectColumns+` FROM project WHERE id = $1`, clean(id)))
		return missing(err)
	})
	if err != nil {
		return p, fmt.Errorf("project %s: %w", id, err)
	}
	return p, nil
}

// Projects implements [store.ProjectReader].
func (s projects) Projects(ctx context.Context) (out []lathe.Project, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			p, err := scanProject(row)
			out = append(out, p)
			return err
		}, `SELECT `+projectColumns+` FROM project ORDER BY updated DESC, id`)
	})
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	return out, nil
}
