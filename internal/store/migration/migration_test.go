package migration

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func files(texts map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range texts {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func TestStepsLeadFromAVersionToTheNewest(t *testing.T) {
	all := files(map[string]string{
		"00001_init.sql": "-- +goose Up\nCREATE TABLE a (n INTEGER);\n\n-- +goose Down\nDROP TABLE a;\n",
		"00002_more.sql": "-- +goose Up\n-- +goose StatementBegin\nSELECT 1;\n-- +goose StatementEnd\n",
		"00003_last.sql": "-- +goose Up\nSELECT 3;\n",
		"README.md":      "not a migration",
	})
	want := []Step{
		{1, "CREATE TABLE a (n INTEGER);\n"},
		{2, "-- +goose StatementBegin\nSELECT 1;\n-- +goose StatementEnd\n"},
		{3, "SELECT 3;\n"},
	}
	for from := range int64(4) {
		got, err := Steps(all, from)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[from:], got); diff != "" && len(got)+len(want[from:]) > 0 {
			t.Errorf("from %d (-want +got):\n%s", from, diff)
		}
	}
}

func TestStepsRefuseAGap(t *testing.T) {
	for why, name := range map[string]string{
		"a missing version":     "00003_c.sql",
		"a version twice":       "00001_b.sql",
		"a name without number": "later.sql",
	} {
		all := files(map[string]string{"00001_a.sql": "-- +goose Up\nSELECT 1;\n", name: "-- +goose Up\nSELECT 2;\n"})
		if got, err := Steps(all, 0); err == nil {
			t.Errorf("%s: %v", why, got)
		}
	}
	if got, err := Steps(files(map[string]string{"00001_a.sql": "SELECT 1;\n"}), 0); err == nil {
		t.Errorf("without the first line: %v", got)
	}
}
