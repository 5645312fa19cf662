package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseAge(t *testing.T) {
	const day = 24 * time.Hour
	want := map[string]time.Duration{"1d": day, "180d": 180 * day, "26w": 182 * day, "2y": 730 * day, "100y": 36500 * day}
	got := map[string]time.Duration{}
	for _, text := range []string{"1d", "180d", "26w", "2y", "100y", "", "0d", "-1d", "+1d", "1.5d", "d", "3m", "12h", "101y", "99999999d", "1 d", "１d", "1D"} {
		if age, err := ParseAge(text); err == nil {
			got[text] = time.Duration(age)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A repository never says when sessions are removed, trusted or not.
func TestRetentionIsThePersons(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w := newWorld(t, map[string]string{
			"home/.config/lathe/lathe.json": `{"retention": {"audit": "2y"}}`, "repo/opencode.json": `{"retention": {"sessions": "1d", "audit": "1d"}}`,
		})
		w.opts.Trusted = trusted
		c := w.load()
		if diff := cmp.Diff(Retention{Audit: Age(730 * 24 * time.Hour)}, c.Retention); diff != "" {
			t.Errorf("trusted %v (-want +got):\n%s", trusted, diff)
		}
		if len(c.LeftOut) != 1 || c.LeftOut[0].Path != "retention" {
			t.Errorf("trusted %v: left out %v", trusted, c.LeftOut)
		}
	}
}
