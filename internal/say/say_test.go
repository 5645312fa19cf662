package say

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		configured string
		env        map[string]string
		want       Language
	}{
		{"", nil, English},
		{"", map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{"", map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, English},
		{"", map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_SG"}, Chinese},
		{"", map[string]string{"LANG": "zh_TW.UTF-8"}, English},
		{"en", map[string]string{"LANG": "zh_CN.UTF-8"}, English},
		{"zh-CN", nil, Chinese},
		{"auto", map[string]string{"LANG": "zh"}, Chinese},
	} {
		if got := Choose(tt.configured, func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("Choose(%q, %v) is %s", tt.configured, tt.env, got)
		}
	}
}

func TestText(t *testing.T) {
	for english, want := range map[string]string{
		"":                                       "",
		"nobody wrote this":                      "nobody wrote this",
		"Print the version":                      "打印版本",
		`there is no session "ses_1"`:            `没有会话 "ses_1"`,
		`there is no session "a \" b"`:           `没有会话 "a \" b"`,
		`unknown command "x" for "y"`:            `"y" 没有 "x" 这个命令`,
		"see: lathe run --help":                  "见：lathe run --help",
		"write a: b: the prompt is empty":        "写 a：b: 请求是空的",
		"help for run":                           "run 的说明", // a name, although "run" is also a word of the screen
		"  not shown to its end: 3 lines below ": "  没有显示到末尾：下面还有 3 行 ",
		"lathe is confined, 3 lines":             "lathe is confined, 3 lines", // half of it is somebody else's
		"step: the prompt is empty":              "step: 请求是空的",
		"the database l at h:5432 cannot be reached: the store cannot be reached\nread the schema": "无法连接数据库 l at h:5432: the store cannot be reached\nread the schema",
		"the database l at h:5432 refuses this user: password authentication failed":               "数据库 l at h:5432 拒绝这个用户：password authentication failed",
		"did you mean \"run\"? list them with: lathe --help":                                       "你是想写 \"run\" 吗？列出它们：lathe --help",
		"import /x: not an absolute path of theirs":                                                "导入 /x：not an absolute path of theirs",
	} {
		if got := Chinese.Text(english); got != want {
			t.Errorf("%q is %q, not %q", english, got, want)
		}
		if got := English.Text(english); got != english {
			t.Errorf("English changes %q to %q", english, got)
		}
	}
}

// TestCatalogue holds that each text of a language takes what its English takes, so that
// nothing that was put in is lost, and that a format has words by which it is recognised.
func TestCatalogue(t *testing.T) {
	c, err := read()
	if err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`%(?:\[\d+\])?[-+#0]*[\d.]*[a-zA-Z]`)
	kinds := func(s string) []string {
		var out []string
		for _, v := range verb.FindAllString(s, -1) {
			out = append(out, v[len(v)-1:])
		}
		if strings.Contains(s, "%[") { // it says which is which
			slices.Sort(out)
		}
		return out
	}
	for english, said := range c.texts {
		a, b := kinds(english), kinds(said)
		if strings.Contains(said, "%[") {
			slices.Sort(a)
		}
		if !slices.Equal(a, b) {
			t.Errorf("%q takes %v, and %q %v", english, a, said, b)
		}
		if strings.TrimSpace(said) == "" || said == english {
			t.Errorf("%q is not translated", english)
		}
	}
	for _, f := range c.formats {
		if len(strings.TrimSpace(f.fixed)) < 2 {
			t.Errorf("%q would be found in anything", f.english)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("write a: b: the prompt is empty")
	f.Add(`unknown command "\"" for "%s"`)
	f.Fuzz(func(t *testing.T, s string) { Chinese.Text(s) })
}

// What is packed is what the files say.
func TestPacked(t *testing.T) {
	files, err := filepath.Glob("zh-CN/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var want []byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, data...)
	}
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, want) {
		t.Errorf("zh-CN.gz is not what zh-CN has (%v): go generate ./internal/say", err)
	}
}

func TestLabelled(t *testing.T) {
	for _, c := range []struct {
		l                 Language
		label, text, want string
	}{
		{English, "local", "connected", "local: connected"},
		{English, "local", "", "local"},
		{English, "", "connected", "connected"},
		{Chinese, "local", "connecting", "本地：正在连接"},
		{Chinese, "", "connecting", "正在连接"},
	} {
		if got := c.l.Labelled(c.label, c.text); got != c.want {
			t.Errorf("%v, %q and %q: %q, want %q", c.l, c.label, c.text, got, c.want)
		}
	}
}
