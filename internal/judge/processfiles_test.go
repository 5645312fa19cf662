package judge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A path that leads elsewhere through a process counts as where it leads, or as one
// outside, however its number is put in.
func TestProcessFiles(t *testing.T) {
	for script, want := range map[string]string{
		`T=/proc/$BASHPID/root/etc/x; cat "$T"`:              "/etc/x",
		`T="/proc/$$/root$HOME/.ssh/id"; cp "$T" .`:          "/h/.ssh/id",
		`cat /proc/$!/root/etc/x`:                            "/etc/x",
		`A=/proc; B=$A/$BASHPID; C=root; cat "$B/$C/etc/x"`:  "/etc/x",
		`export T=/proc/$PPID/root/etc/x; cat < $T`:          "/etc/x",
		`T=/proc/$(cat pid)/root/etc/x; cat $T`:              "/etc/x",
		`T=/proc/$BASHPID/root/../etc/x; cat $T`:             "/etc/x",
		`T=/proc/$BASHPID/cwd/../../x; cat $T`:               "?/proc",
		`T=/proc/$BASHPID/task/$BASHPID/root/etc/x; cat $T`:  "?/proc",
		`exec 9</; T=/proc/$BASHPID/fd/9/etc/x; cat $T`:      "?/proc",
		`N=$(cat n); exec 9</; cat /dev/fd/$N/etc/x`:         "?/proc",
		`W=$(cat n); cat /proc/$$/$W/etc/x`:                  "?/proc",
		`cd /proc/$$/root && cat etc/x`:                      "/etc/x",
		`cat /proc/$$/status`:                                "?",
		`for p in $(pgrep x); do cat /proc/$p/cmdline; done`: "?",
		`T=/proc/$$; grep Vm $T/status`:                      "?",
		`ls -l /proc/$$/fd`:                                  "?",
		`f=$(cat n); cat /proc/$f`:                           "?",
		`cat "$UNKNOWN"`:                                     "?",
	} {
		a := Analyze(script, Env{Dir: "/w", Home: "/h", Lookup: func(string) (string, bool) { return "", false }})
		got := "none"
		for _, u := range a.Reads {
			if got = u.Path; u.Dynamic {
				got = "?" + u.Within
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s%s", script, diff, fmt.Sprint(a.Reads))
		}
	}
}
