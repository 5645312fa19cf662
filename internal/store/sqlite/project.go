package sqlite

import (
	"context"
	"fmt"
	"lathe/internal/store/codec"

	"lathe"
)

// projects is a [store.ProjectReader].
type projects struct{ *core }

// PutProject implements [store.Tx].
func (tx *tx) PutProject(p lathe.Project) error {
	data, err := codec.Project(&p)
	if err == nil {
		_, err = tx.exec(`INSERT INTO project (id, worktree, vcs, created, updated, data) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET worktree = excluded.worktree, vcs = excluded.vcs,
				created = min(created, excluded.created), updated = excluded.updated,
				data = iif(data = '{}', excluded.data, data)`,
			p.ID, p.Worktree, p.VCS, codec.Millis(p.Created), codec.Millis(p.Updated), string(data))
	}
	if err != nil {
		return fmt.Errorf("store project %s: %w", p.ID, err)
	}
	return nil
}

// UpdateProject changes a stored project, or returns [ErrNotFound].
func (tx *tx) UpdateProject(id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	p, err = scanProject(tx.row(`SELECT `+projectColumns+` FROM project WHERE id = ?`, id))
	if err != nil {
		return lathe.Project{}, fmt.Errorf("update project %s: %w", id, missing(err))
	}
	if err := change(&p); err != nil {
		return lathe.Project{}, err
	}
	p.ID = id
	data, err := codec.Project(&p)
	if err == nil {
		err = tx.change(`UPDATE project SET worktree = ?, vcs = ?, created = ?, updated = ?, data = ? WHERE id = ?`,
			p.Worktree, p.VCS, codec.Millis(p.Created), codec.Millis(p.Updated), string(data), id)
	}
	if err != nil {
		return lathe.Project{}, fmt.Errorf("update project %s: %w", id, err)
	}
	return p, nil
}

const projectColumns = `id, worktree, vcs, created, updated, data`

func scanProject(row scanner) (p lathe.Project, err error) {
	var created, updated int64
	var data string
	if err = row.Scan(&p.ID, &p.Worktree, &p.VCS, &created, &updated, &data); err != nil {
		return p, err
	}
	p.Created, p.Updated = codec.At(created), codec.At(updated)
	return p, codec.ParseProject([]byte(data), &p)
}

// Project returns a project, or [ErrNotFound].
func (s projects) Project(ctx context.Context, id string) (p lathe.Project, err error) {
	err = s.read(ctx, func(v *view) error {
		p, err = scanProject(v.row(`SELECT `+projectColumns+` FROM project WHERE id = ?`, id))
		if err != nil {
			return fmt.Errorf("project %s: %w", id, missing(err))
		}
		return nil
	})
	return p, err
}

// Projects returns all projects, the one used last first.
func (s projects) Projects(ctx context.Context) (out []lathe.Project, err error) {
	err = s.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT ` + projectColumns + ` FROM project ORDER BY updated DESC, id`)
		if err != nil {
			return fmt.Errorf("list projects: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			p, err := scanProject(rows)
			if err != nil {
				return fmt.Errorf("list projects: %w", err)
			}
			out = append(out, p)
		}
		return rows.Err()
	})
	return out, err
}
