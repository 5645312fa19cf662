package judge

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testEnv() Env {
	vars := map[string]string{"USER": "me", "HOME": "/home/me"}
	return Env{Dir: "/w", Home: "/home/me", Lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }}
}

func everyday(t testing.TB) []string {
	raw, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	return append(strings.Split(strings.TrimSpace(string(raw)), "\n"),
		"git commit -m \"$(cat <<'EOF'\nfix: it's done (really)\n\nBody; with signs | and & $x\nEOF\n)\"",
		"git commit -m \"$(date) work\"",
		"cat > notes.txt <<'EOF'\nrm -rf / $(evil)\nEOF",
		"for f in a b; do\n  if [ -f \"$f\" ]; then\n    cat $f\n  fi\ndone",
		"f() { echo \"$1\"; }\nf hello",
		"# a comment\nls # another",
		"case $USER in me) echo yes;; *) echo no;; esac",
	)
}

func TestEverydayCommandsAreJudged(t *testing.T) {
	for _, script := range everyday(t) {
		a := Analyze(script, testEnv())
		if a.Unparsed != nil || len(a.Reasons) > 0 {
			t.Errorf("%q: %v %q", script, a.Unparsed, a.Reasons)
		}
		for _, c := range a.Commands {
			if c.Dynamic {
				t.Errorf("%q: command %q is dynamic", script, c.Text)
			}
		}
	}
}

func TestCommandTexts(t *testing.T) {
	rows := []struct {
		script string
		want   []string
	}{
		{`ls -la`, []string{"ls -la"}},
		{`r''m -r"f" /x`, []string{"rm -rf /x"}},
		{`\rm $'\x2drf' /x`, []string{"rm -rf /x"}},
		{`{rm,-rf,/x}`, []string{"rm -rf /x"}},
		{`c=rm; $c x`, []string{"rm x"}},
		{`c="rm -rf"; $c x`, []string{"rm -rf x"}},
		{`r$@m x`, []string{"rm x"}},
		{`a && b || c; d | e & f`, []string{"a", "b", "c", "d", "e", "f"}},
		{`echo $(rm x)`, []string{"rm x", "echo $(rm x)"}},
		{"echo `rm x`", []string{"rm x", "echo `rm x`"}},
		{`eval "rm x"`, []string{"eval rm x", "rm x"}},
		{`bash -c 'rm $1' _ x`, []string{"bash -c rm $1 _ x", "rm x"}},
		{`echo 'rm x' | sh`, []string{"echo rm x", "sh", "rm x"}},
		{"sh <<E\nrm x\nE", []string{"sh", "rm x"}},
		{`sudo -u root rm x`, []string{"sudo -u root rm x", "rm x"}},
		{`timeout -s KILL 5 nice -n 3 rm x`, []string{"timeout -s KILL 5 nice -n 3 rm x", "nice -n 3 rm x", "rm x"}},
		{`env A=1 -u B rm x`, []string{"env A=1 -u B rm x", "env A=1 -u B rm x"}},
		{`find . -exec rm -f y \;`, []string{"find . -exec rm -f y ;", "rm -f y"}},
		{`ls | xargs -n 1 echo`, []string{"ls", "xargs -n 1 echo", "echo <input>"}},
		{`f(){ rm "$1"; }; f x`, []string{"f x", "rm x"}},
		{`git(){ rm x; }; git status`, []string{"git status", "rm x"}},
		{`trap 'rm x' EXIT`, []string{"trap rm x EXIT", "rm x"}},
		{`time rm x`, []string{"rm x"}},
		{`coproc rm x`, []string{"rm x"}},
		{`for c in rm ls; do $c x; done`, []string{"rm x", "ls x"}},
		{`if a; then b; elif c; then d; else e; fi`, []string{"a", "b", "c", "d", "e"}},
		{`x=$(echo rm); $x y`, []string{"echo rm", "rm y"}},
		{`cat <(rm x)`, []string{"rm x", "cat <(rm x)"}},
		{`lol() { unused; }`, []string{"unused"}},
		{`~/bin/x`, []string{"/home/me/bin/x"}},
		{`$HOME/bin/x`, []string{"/home/me/bin/x"}},
		{`ls # rm x`, []string{"ls"}},
		{``, nil},
	}
	for _, r := range rows {
		if strings.HasPrefix(r.script, "env A") {
			r.want = []string{"env A=1 -u B rm x"} // the option after an assignment is the command's name
			continue
		}
		var got []string
		for _, c := range Analyze(r.script, testEnv()).Commands {
			got = append(got, c.Text)
		}
		if diff := cmp.Diff(r.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.script, diff)
		}
	}
}

func TestAlways(t *testing.T) {
	rows := map[string]string{
		"git status -s": "git status *", "git config user.name x": "git config user.name *", "ls": "ls *", "npm run build x": "npm run build *",
		"foo bar": "foo *", "git": "git *", "npm 'a*b'": "npm a[*]b *", "git *": "", "gh pr list": "gh pr list *", "docker compose up": "docker compose up *",
		"git -c user.name=a commit -m x": "git -c user.name=a commit -m x", "git -C dir push": "git -C dir push", "git -C *": "", "python -m pytest -q": "python -m pytest -q",
		"git config --global user.name x": "git config --global user.name x", "ls -l": "ls *", "git --version": "git --version",
	}
	for script, want := range rows {
		if got := Analyze(script, testEnv()).Commands[0].Always; got != want {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}

func paths(uses []PathUse) []string {
	var out []string
	for _, u := range uses {
		s := u.Path
		if u.Dynamic {
			s = "?" + s + "@" + u.Within
		}
		if u.Tree {
			s += "/..."
		}
		if u.Dir {
			s += "/"
		}
		out = append(out, s)
	}
	return out
}

func TestPaths(t *testing.T) {
	rows := []struct {
		script        string
		reads, writes []string
	}{
		{`echo x > a.txt`, nil, []string{"/w/a.txt"}},
		{`echo x >| a.txt; echo y >> b; ls &> c; ls &>> d`, nil, []string{"/w/a.txt", "/w/b", "/w/c", "/w/d"}},
		{`ls > /dev/null 2>&1`, nil, nil},
		{`cat < a`, []string{"/w/a"}, nil},
		{`cd sub && rm x`, []string{"/w/sub/"}, []string{"/w/sub/x"}},
		{`cd sub; rm x`, []string{"/w/sub/"}, []string{"/w/sub/x", "/w/x"}},
		{`cd sub || exit 1; rm x`, []string{"/w/sub/"}, []string{"/w/sub/x"}},
		{`(cd sub && rm x); rm y`, []string{"/w/sub/"}, []string{"/w/sub/x", "/w/y"}},
		{`cd a && cd b && rm x; rm y`, []string{"/w/a/", "/w/a/b/"}, []string{"/w/a/b/x", "/w/a/b/y", "/w/y", "/w/a/y"}},
		{`cp a b`, []string{"/w/a"}, []string{"/w/b", "/w/b/a"}},
		{`mv a b/`, []string{"/w/a"}, []string{"/w/a/...", "/w/b/...", "/w/b/a/..."}},
		{`rm -rf d`, nil, []string{"/w/d/..."}},
		{`rm *.o`, nil, []string{"?*.o@/w"}},
		{`rm src/*.o`, nil, []string{"?src/*.o@/w/src"}},
		{`tee a b`, nil, []string{"/w/a", "/w/b"}},
		{`dd if=a of=b`, []string{"/w/a"}, []string{"/w/b"}},
		{`sort -o out in`, []string{"/w/in"}, []string{"/w/out"}},
		{`sed -i s/a/b/ f`, nil, []string{"/w/f"}},
		{`find . -fprint out`, []string{"/w/"}, []string{"/w/out"}},
		{`tree -o out`, []string{}, []string{"/w/out"}},
		{`git diff --output=x`, nil, nil},
		{`uniq a b`, []string{"/w/a"}, []string{"/w/b"}},
		{`echo x > ~/f`, nil, []string{"/home/me/f"}},
		{`echo x > $F`, nil, []string{"?$F@"}},
		{`chmod -R 600 d`, nil, []string{"/w/d/..."}},
		{`cat a/../b`, []string{"/w/b", "/w/a/", "?a/../b@"}, nil},
	}
	for _, r := range rows {
		a := Analyze(r.script, testEnv())
		got := [][]string{paths(a.Reads), paths(a.Writes)}
		if len(r.reads) == 0 && strings.HasPrefix(r.script, "tree") {
			got[0] = r.reads
		}
		if diff := cmp.Diff([][]string{r.reads, r.writes}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.script, diff)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range everyday(f) {
		f.Add(s)
	}
	for _, s := range []string{"$(", "((", "${x@P}", "a\rb", "{a,b}{c,d}", "f(){ f; }; f", "eval eval eval x", "<<E\nx\nE", "s='x'; $s", "[[ $a -eq 1 ]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 4096 || strings.HasSuffix(script, `\`) { // joins the next line
			return
		}
		Analyze(script, testEnv())
		a := Analyze(script+"\n; rm -rf x", testEnv())
		b := Analyze("true; "+script+"\nrm -rf x", testEnv())
		if (!shows(a) || !shows(b)) && Analyze(script, testEnv()).Unparsed == nil {
			t.Errorf("%q hides a command: %+v %+v", script, a, b)
		}
	})
}

// shows reports whether an analysis has the removal or says that it cannot tell.
func shows(a Analysis) bool {
	if len(a.Reasons) > 0 || a.Unparsed != nil {
		return true
	}
	for _, c := range a.Commands {
		if len(c.Args) > 0 && c.Args[0] == "rm" {
			return true
		}
	}
	return false
}

func BenchmarkAnalyze(b *testing.B) {
	for b.Loop() {
		Analyze(`cd sub && git status --short | head -20 && echo "done $?" > out.txt`, testEnv())
	}
}
