package plugin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe/internal/filelock"
	"lathe/internal/order"
	"lathe/internal/workspace"
)

const (
	maxRecords = 1 << 20 // bytes of the file, after which it is summed up
	recordDays = 400     // that are kept then
	day        = "2006-01-02"
)

// Records keep what hooks cost, by day and directory, for all processes of this machine: a
// file to which a line is added for each hook. They may be lost; nothing but statistics
// depends on them.
type Records struct{ Path string }

// record is one line of the file.
type record struct {
	Day string `json:"day"` // in the person's time zone
	Dir string `json:"dir"`
	Account
}

// Add keeps what hooks of a directory cost.
func (r Records) Add(ctx context.Context, now time.Time, dir string, accounts []Account) error {
	if len(accounts) == 0 {
		return nil
	}
	var lines bytes.Buffer
	for _, a := range accounts {
		if err := json.NewEncoder(&lines).Encode(record{now.Local().Format(day), dir, a}); err != nil {
			return fmt.Errorf("keep what hooks cost: %w", err)
		}
	}
	unlock, err := filelock.Lock(ctx, r.Path+".lock", r.Path)
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Stat(r.Path); err == nil && info.Size() > maxRecords {
		if err := r.sumUp(now); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(r.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep what hooks cost: %w", err)
	}
	_, err = f.Write(lines.Bytes())
	return errors.Join(err, f.Close())
}

// Sum returns what hooks cost since a day, in a directory or, if it is empty, in all.
func (r Records) Sum(since time.Time, dir string) ([]Account, error) {
	from := ""
	if !since.IsZero() {
		from = since.Local().Format(day)
	}
	sums := map[[2]string]Account{}
	err := r.read(func(one record) {
		if one.Day < from || dir != "" && one.Dir != dir {
			return
		}
		key := [2]string{one.Plugin, one.Hook}
		if before, ok := sums[key]; ok {
			one.Account = before.plus(one.Account)
		}
		sums[key] = one.Account
	})
	out := make([]Account, 0, len(sums))
	for _, a := range sums {
		out = append(out, a)
	}
	order.Stable(out, byPlugin)
	return out, err
}

// read calls f with each line; one that was cut short is left out.
func (r Records) read(f func(record)) error {
	file, err := os.Open(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what hooks cost: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one record
		if json.Unmarshal(lines.Bytes(), &one) == nil && one.Calls > 0 {
			f(one)
		}
	}
	return lines.Err()
}

// sumUp makes one line of all those of a hook, a day and a directory, and drops the oldest
// until there is room again. The caller holds the lock.
func (r Records) sumUp(now time.Time) error {
	type key struct{ day, dir, plugin, hook string }
	oldest := now.Local().AddDate(0, 0, -recordDays).Format(day)
	at := map[key]int{}
	var all []record
	err := r.read(func(one record) {
		k := key{one.Day, one.Dir, one.Plugin, one.Hook}
		if i, ok := at[k]; ok {
			all[i].Account = all[i].plus(one.Account)
			return
		}
		if one.Day >= oldest {
			at[k] = len(all)
			all = append(all, one)
		}
	})
	if err != nil {
		return err
	}
	var text []byte
	for _, one := range slices.Backward(all) { // the newest are kept
		line, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("keep what hooks cost: %w", err)
		}
		if len(text)+len(line) > maxRecords/2 {
			break
		}
		text = append(append(line, '\n'), text...)
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o700); err != nil {
		return err
	}
	return workspace.WriteFile(r.Path, text, 0o600)
}
