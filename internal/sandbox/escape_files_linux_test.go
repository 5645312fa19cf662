//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// spelling is a way to name a file: a script that sets T to a name of %[1]s, whose directory
// is %[2]s and whose last element is %[3]s. All are relative to $BASE.
type spelling struct{ name, set string }

var spellings = []spelling{
	{"absolute", `T="$BASE/%[1]s"`},
	{"relative", `T="../%[1]s"`},
	{"dots", `T="$BASE/work/sub/../.././%[1]s"`},
	{"slashes", `T="//$BASE//%[2]s//%[3]s"`},
	{"symbolic link (CVE-2025-55345)", `rm -f l; ln -s "$BASE/%[1]s" l; T=l`},
	{"symbolic link to its directory (CVE-2026-39861)", `rm -f d; ln -s "$BASE/%[2]s" d; T=d/%[3]s`},
	{"links of links", `rm -f d l; ln -s "$BASE" d; ln -s d/%[1]s l; T=l`},
	{"/proc/self/root (Ona)", `T="/proc/self/root$BASE/%[1]s"`},
	{"/proc/thread-self/root", `T="/proc/thread-self/root$BASE/%[1]s"`},
	{"/proc/self/cwd", `T="/proc/self/cwd/../%[1]s"`},
	{"descriptor of a directory", `exec 9<"$BASE"; T="/proc/self/fd/9/%[1]s"`},
	{"/dev/fd", `exec 9<"$BASE"; T="/dev/fd/9/%[1]s"`},
	{"after cd (CVE-2026-25722)", `cd "$BASE/%[2]s" || exit; T=%[3]s`},
	{"root of the shell", `T="/proc/$BASHPID/root$BASE/%[1]s"`},
}

func (s spelling) of(target string) string {
	return fmt.Sprintf(s.set+"\n", target, path.Dir(target), path.Base(target))
}

// act is something done to $T.
type act struct {
	name, script string
	files        string // as of an escape, for files outside the project
}

// metadata is why Landlock lets it through.
const metadata = "Landlock does not know of modes, owners, times and attributes"

func call(nr int, args string) string { return fmt.Sprintf(`perl -e 'syscall(%d%s)'`, nr, args) }

var writes = []act{
	{"write", `echo x > "$T"`, ""},
	{"append", `echo x >> "$T"`, ""},
	{"clobber (CVE-2026-24053)", `set -C; echo x >| "$T"`, ""},
	{"truncate", `truncate -s 0 "$T"`, ""},
	{"truncate by its call", call(unix.SYS_TRUNCATE, `, "$ENV{T}\0", 0`), ""},
	{"dd", `dd if=a.txt of="$T" conv=notrunc`, ""},
	{"sed in place (CVE-2025-64755)", `sed -i 's/^/x/' "$T"`, ""},
	{"sed writes (CVE-2026-25723)", `echo x | sed -n "w $T"`, ""},
	{"tee", `echo x | tee -a "$T"`, ""},
	{"cp", `cp "$BASE/work/a.txt" "$T"`, ""},
	{"install", `install "$BASE/work/a.txt" "$T"`, ""},
	{"move over", `echo x > "$BASE/work/v"; mv -f "$BASE/work/v" "$T"`, ""},
	{"link over", `ln -f "$BASE/work/a.txt" "$T"`, ""},
	{"symbolic link over", `ln -sf "$BASE/work/a.txt" "$T"`, ""},
	{"remove", `rm -f "$T"`, ""},
	{"move away", `mv "$T" "$BASE/work/moved"`, ""},
	{"rename beside", `mv "$T" "$T.old"`, ""},
	{"create beside", `echo x > "${T}2"`, ""},
	{"make a directory beside", `mkdir "${T}3"`, ""},
	{"make a pipe beside", `mkfifo "${T}4"`, ""},
	{"make a link beside", `ln -s / "${T}5"`, ""},
	{"make a hard link beside", `ln "$T" "${T}6"`, ""},
	{"open to write and read", `perl -e 'open(F, "+<", $ENV{T}) && print F "x"'`, ""},
	{"open again by its descriptor", `exec 8<"$T"; echo x > /proc/self/fd/8`, ""},
	{"memory map by python", `perl -e 'use Fcntl; sysopen(F, $ENV{T}, O_RDWR) && syswrite(F, "x")'`, ""},
	{"find (CVE-2026-24887)", `find "$T" -maxdepth 0 -fprintf "$T" x`, ""},
	{"sort into it (CmdNeedle)", `echo x | sort -o "$T"`, ""},
	{"git into it (CmdNeedle)", `cd /; git diff --no-index --output="$T" "$BASE/work/a.txt" "$BASE/work/sub/b.txt"`, ""},
	{"curl into it", `curl -s -o "$T" "file://$BASE/work/a.txt"`, ""},
	{"tar over it", `cd "$BASE/work"; cp a.txt "${T##*/}"; tar cf t.tar "${T##*/}"; cd "${T%/*}" && tar xf "$BASE/work/t.tar"`, ""},
	{"hard link in the project", `ln "$T" "$BASE/work/h"; echo x > "$BASE/work/h"`, ""},
	{"mode", `chmod 777 "$T"`, metadata},
	{"mode by its descriptor", `exec 8<"$T"; chmod 666 /proc/self/fd/8`, metadata},
	{"times", `touch -d 2001-01-01 "$T"`, metadata},
	{"attribute", `perl -e '` + fmt.Sprintf(`$a="user.evil\0";$v="x";syscall(%d, "$ENV{T}\0", $a, $v, 1, 0)`, unix.SYS_SETXATTR) + `'`, metadata},
}

var targets = []string{"outside/file.txt", "home/.bashrc", "home/doc.txt", "home/.local/bin/tool", "home/.ssh/authorized_keys",
	"work/.git/config", "work/.git/hooks/pre-commit", "work/.vscode/tasks.json", "work/.github/workflows/ci.yml", "work/.husky/pre-commit"}

var reads = []act{
	{"cat", `cat "$T"`, ""},
	{"shell", `echo "$(<"$T")"; mapfile -t y < "$T"; echo "${y[@]}"`, ""},
	{"source", `read -r x < "$T"; echo "$x"; . "$T"`, ""},
	{"copy", `cp "$T" "$BASE/work/stolen" && cat "$BASE/work/stolen"`, ""},
	{"move", `mv "$T" "$BASE/work/stolen" && cat "$BASE/work/stolen"`, ""},
	{"hard link", `ln "$T" "$BASE/work/stolen" && cat "$BASE/work/stolen"`, ""},
	{"tar", `tar cf - -P "$T" --dereference | tr -d '\000'`, ""},
	{"dd", `dd if="$T"`, ""},
	{"perl", `perl -pe 1 "$T"`, ""},
	{"awk", `awk 1 "$T"`, ""},
	{"grep", `grep -r "" "$T"`, ""},
	{"curl", `curl -s "file://$(realpath "$T")"`, ""},
	{"git", `cd /; git --no-pager diff --no-index /dev/null "$T"`, ""},
	{"exchange", `echo x > "$BASE/work/v"; perl -e '` + fmt.Sprintf(`syscall(%d, -100, "$ENV{BASE}/work/v\0", -100, "$ENV{T}\0", 2)`, unix.SYS_RENAMEAT2) + `'; cat "$BASE/work/v"`, ""},
	{"loader", `cp /bin/cat "$BASE/work/notcat"; "$BASE/work/notcat" "$T"`, ""},
	{"opened by handle of a path", `exec 8<"$T"; cat /proc/self/fd/8`, ""},
}

var secrets = []string{"secret/key", "netrc", "home/.ssh/id_ed25519", "home/.aws/credentials", "home/.netrc", "home/.git-credentials", "home/.docker/config.json", "home/.kube/config",
	"home/.config/gh/hosts.yml", "home/.bash_history", "home/.mozilla/firefox/p/logins.json", "home/.gnupg/private-keys-v1.d/k.key", "home/.m2/settings.xml",
	"home/.claude/.credentials.json", "home/.codex/auth.json"}

// made generates what is done to a file, however it is named.
func made(acts []act, targets []string, spelled []spelling) (list []escape) {
	for _, target := range targets {
		for _, s := range spelled {
			for _, a := range acts {
				if a.files == metadata && (target == "home/doc.txt" || target == "home/.bashrc" || target == "home/.local/bin/tool") {
					continue // as for any file outside
				}
				e := escape{name: a.name + ": " + target + ": " + s.name, script: s.of(target) + "export T\n" + a.script, files: a.files}
				switch {
				case a.files == metadata && !strings.HasPrefix(target, "work/") && !strings.Contains(target, ".ssh/"):
					e.known = metadata
				case a.files == "" && target == "work/.git/config" && strings.HasPrefix(a.name, "truncate"):
					e.files = "a configuration of git that executes nothing new stays"
				}
				list = append(list, e)
			}
		}
	}
	return list
}

// fileEscapes are each act on each place, and some acts on each place by each name.
func fileEscapes() []escape {
	some := func(acts []act, names ...string) []act {
		return slices.DeleteFunc(slices.Clone(acts), func(a act) bool { return !slices.Contains(names, a.name) })
	}
	return slices.Concat(
		made(writes, targets, spellings[:1]),
		made(some(writes, "append", "remove", "move over"), targets[2:7], spellings[1:]),
		made(reads, secrets, spellings[:1]),
		made(reads[:1], secrets[:6], spellings[1:]),
	)
}
