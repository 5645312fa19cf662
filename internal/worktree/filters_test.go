package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFiltersOfTheRepository looks at changes where the repository's own configuration
// names a filter, in every place and spelling that git reads: none of them runs.
func TestFiltersOfTheRepository(t *testing.T) {
	for name, hide := range map[string]func(p *place, section string){
		"in the configuration": func(p *place, section string) { p.append(".git/config", section) },
		"in capitals": func(p *place, section string) {
			p.append(".git/config", "[FILTER \"evil\"]"+section[len(`[filter "evil"]`):])
		},
		"in a file that is included": func(p *place, section string) {
			p.append(".git/config", "[Include]\n\tpath = ../evil\n")
			p.append("evil", section)
		},
		"in the worktree's configuration": func(p *place, section string) {
			p.append(".git/config", "[extensions]\n\tworktreeConfig = true\n")
			p.append(".git/config.worktree", section)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("repo/.gitattributes", "* filter=evil\n")
			p.write("repo/b.txt", "one\n")
			p.commit(p.top, "attributes")
			ran := p.path("ran")
			r := p.open(p.top)
			if mayFilter(t.Context(), p.top) {
				t.Error("a repository without filters is not seen to have none")
			}
			hide(p, "[filter \"evil\"]\n\tclean = touch "+ran+" && cat\n")
			p.write("repo/b.txt", "two\n")
			if _, all, err := r.Dirty(t.Context(), 5); err != nil || all == 0 {
				t.Errorf("%d files are changed, %v", all, err)
			}
			if exists(ran) {
				t.Error("a filter of the repository ran")
			}
		})
	}
}

// append writes to the end of a file of the repository.
func (p *place) append(name, text string) {
	p.t.Helper()
	f, err := os.OpenFile(filepath.Join(p.top, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n" + text); err != nil {
		p.t.Fatal(err)
	}
}
