package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/prompt"
)

// script builds a history from words: "u1" a user message, "a2" an answer, "c3"
// a request to compact that keeps nothing, "c3<u1" one that keeps from u1 on,
// "s4=c3" its summary, "x4=c3" one that failed.
func history(words ...string) []lathe.Message {
	var out []lathe.Message
	for i, w := range words {
		id, rest := lathe.MessageID(w), ""
		for j, r := range w {
			if r == '<' || r == '=' {
				id, rest = lathe.MessageID(w[:j]), w[j+1:]
			}
		}
		m := lathe.Message{ID: id, Seq: int64(i + 1)}
		switch w[0] {
		case 'u':
			m.Info, m.Parts = &lathe.User{}, []lathe.Part{part(&lathe.Text{Text: w})}
		case 'a':
			m.Info, m.Parts = &lathe.Assistant{Finish: lathe.FinishStop}, []lathe.Part{part(&lathe.Text{Text: w})}
		case 'c':
			m.Info, m.Parts = &lathe.User{}, []lathe.Part{part(&lathe.CompactionMark{TailStart: lathe.MessageID(rest)})}
		case 's', 'x':
			info := &lathe.Assistant{Summary: true, ParentID: lathe.MessageID(rest), Finish: lathe.FinishStop}
			if w[0] == 'x' {
				info.Finish, info.Error = "", &lathe.APIFailure{}
			}
			m.Info, m.Parts = info, []lathe.Part{part(&lathe.Text{Text: w})}
		}
		out = append(out, m)
	}
	return out
}

func TestView(t *testing.T) {
	for name, tt := range map[string]struct{ in, want []string }{
		"no compaction":          {[]string{"u1", "a2"}, []string{"u1", "a2"}},
		"nothing kept":           {[]string{"u1", "a2", "c3", "s4=c3", "u5"}, []string{"c3", "s4", "u5"}},
		"a tail":                 {[]string{"u1", "a2", "u3", "a4", "c5<u3", "s6=c5", "u7"}, []string{"c5", "s6", "u3", "a4", "u7"}},
		"from the boundary on":   {[]string{"u3", "a4", "c5<u3", "s6=c5"}, []string{"c5", "s6", "u3", "a4"}},
		"the newest counts":      {[]string{"u1", "c2<u1", "s3=c2", "u4", "a5", "c6<u1", "s7=c6"}, []string{"c6", "s7", "u1", "u4", "a5"}},
		"a request without end":  {[]string{"u1", "c2", "u3"}, []string{"u1", "u3"}},
		"a summary that failed":  {[]string{"u1", "a2", "c3", "x4=c3", "u5"}, []string{"u1", "a2", "u5"}},
		"a failed one after one": {[]string{"u1", "c2", "s3=c2", "u4", "c5", "x6=c5", "u7"}, []string{"c2", "s3", "u4", "u7"}},
		"tail start is unknown":  {[]string{"u1", "c2<u0", "s3=c2", "u4"}, []string{"c2", "s3", "u4"}},
	} {
		var got []string
		for _, m := range prompt.View(history(tt.in...)) {
			got = append(got, string(m.ID))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
