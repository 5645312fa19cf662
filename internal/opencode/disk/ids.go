package disk

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"lathe"
)

// IDs returns the sessions that OpenCode's data directory holds, at most that many, without
// reading them. A directory that does not exist holds none.
func IDs(ctx context.Context, dir string, most int) ([]lathe.SessionID, error) {
	var out []lathe.SessionID
	seen := map[lathe.SessionID]bool{}
	add := func(id lathe.SessionID) bool {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
		return len(out) < most
	}
	if path := filepath.Join(dir, Database); isFile(path) {
		ids, err := databaseIDs(ctx, path, most)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			add(id)
		}
	}
	projects, _ := os.ReadDir(filepath.Join(dir, "storage", "session"))
	for _, p := range projects {
		if len(out) >= most || ctx.Err() != nil {
			break
		}
		files, _ := os.ReadDir(filepath.Join(dir, "storage", "session", p.Name()))
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && !add(lathe.SessionID(id)) {
				break
			}
		}
	}
	return out, context.Cause(ctx)
}

func databaseIDs(ctx context.Context, path string, most int) (out []lathe.SessionID, err error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	db, err := sql.Open("sqlite", u.String()+"?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(500)&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT id FROM session LIMIT ?`, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		out = append(out, lathe.SessionID(id))
	}
	return out, rows.Err()
}
