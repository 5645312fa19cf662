package review

import (
	"testing"

	"lathe/internal/api"
	"lathe/internal/say"
)

// TestStaged holds that one file is told of as one, in both languages.
func TestStaged(t *testing.T) {
	for _, c := range []struct {
		files            []string
		english, chinese string
	}{
		{[]string{"a"}, "staged 1 file as it is now", "已暂存 1 个文件现在的样子"},
		{[]string{"a", "b"}, "staged 2 files as they are now", "已暂存 2 个文件现在的样子"},
	} {
		got := staged(api.Stage{}, api.Staged{Files: c.files})
		if said := say.Chinese.Text(got); got != c.english || said != c.chinese {
			t.Errorf("%d files: %q and %q, want %q and %q", len(c.files), got, said, c.english, c.chinese)
		}
	}
}
