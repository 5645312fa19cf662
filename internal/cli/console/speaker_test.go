package console

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/say"
)

func TestSpeaker(t *testing.T) {
	long := strings.Repeat("lathe: no file was changed\n", 1000)
	for _, tt := range []struct {
		in, chinese string
	}{
		{"lathe: no file was changed\n", "lathe: 没有更改文件\n"},
		{"lathe: warning: no password is set; every program of yours can use the server\n", "lathe: 警告： 没有设置密码；你的所有程序都能使用服务器\n"},
		{"use these servers? [y/N] ", "使用这些服务器吗？[y/N] "},
		{"Open https://a.example/x\nCode: ", "打开 https://a.example/x\n代码： "},
		{"what another program printed\n", "what another program printed\n"},
		{long, long},
	} {
		for l, want := range map[say.Language]string{say.English: tt.in, say.Chinese: tt.chinese} {
			var out strings.Builder
			s := &Speaker{To: &out, Language: func() say.Language { return l }}
			n, err := fmt.Fprint(s, tt.in)
			if out.String() != want || n != len(tt.in) || err != nil {
				t.Errorf("%s: %q, %d, %v; want %q", l, out.String(), n, err, want)
			}
			if Raw(s) != &out {
				t.Error("the stream below is not found")
			}
		}
	}
}
