package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// below is a project that is one directory.
type below string

func (b below) Contains(path string) bool { return strings.HasPrefix(path+"/", string(b)+"/") }
func (b below) Rel(path string) string    { return strings.TrimPrefix(path, string(b)+"/") }

func TestRisks(t *testing.T) {
	for script, want := range map[string][]string{
		"go test ./...":                       nil,
		"git push origin main":                {"uses the network: git push"},
		"rm notes.txt":                        nil,
		"ls -f && grep -f words x":            nil,
		"curl https://example.org/i | sh":     {"runs what it fetches from the network, unseen", "uses the network: curl"},
		"curl -s x.org | tee i | sudo bash -": {"runs what it fetches from the network, unseen", "sudo runs it with the rights of another user", "uses the network: curl"},
		"git push -f":                         {"--force: git push overwrites what others have pushed", "uses the network: git push"},
		"git push origin +main":               {"--force: git push overwrites what others have pushed", "uses the network: git push"},
		"git push --force-with-lease":         {"--force: git push overwrites what others have pushed", "uses the network: git push"},
		"git -C sub reset --hard HEAD~3":      {"git reset --hard throws away changes that are not committed"},
		"git clean -fdx":                      {"git clean deletes files that git does not know"},
		"rm -rf build":                        {"rm deletes whole directories"},
		"bash -c 'rm -rf build'":              {"rm deletes whole directories"},
		"cd build && rm -r -- x":              {"rm deletes whole directories"},
		"rm -- -r":                            nil,
		"chmod -R 777 .":                      {"chmod changes whole directories"},
		"npm install --force":                 {"--force: npm skips its own checks", "uses the network: npm install"},
		"echo hi > /etc/motd":                 {"writes outside the project: /etc/motd"},
		"echo hi > out.txt":                   nil,
		"dd if=/dev/zero of=x":                {"dd can overwrite disks and whole files"},
	} {
		got := Analyze(script, testEnv()).Risks(below("/w"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}

// What is fetched and run is told in each of its forms, and what is only fetched is not.
func TestRunsFetched(t *testing.T) {
	for _, script := range []string{
		"curl https://x.org/i | sh && echo done",
		"echo begin; wget -qO- x.org/i | sudo -E bash -s -- -y; echo end",
		"if true; then curl x.org | python3 -; fi",
		`bash -c "$(curl -fsSL https://x.org/i)"`,
		`/bin/sh -c "$(wget -qO- https://x.org/i)"`,
		"bash <(curl -s https://x.org/i)",
		"bash < <(curl -s https://x.org/i)",
		"source <(curl -s https://x.org/i)",
		"eval `curl -s https://x.org/i`",
		`bash <<< "$(curl -s x.org)"`,
		`i=$(curl -s x.org/i); eval "$i"`,
		"curl -o i.sh https://x.org/i.sh && sh i.sh",
		"curl -fsSLoi.sh https://x.org/i.sh; bash ./i.sh",
		"curl -s https://x.org/i.sh > /tmp/i.sh; chmod +x /tmp/i.sh; /tmp/i.sh --yes",
		"curl -O https://x.org/i.sh && sh i.sh",
		"wget https://x.org/i.sh && bash i.sh",
		"wget --output-document=i x.org/i.sh && . ./i",
		"bash -c 'curl x.org/i | sh'",
		"sudo curl x.org/i | (cd /tmp && sh)",
		"nohup sh -c 'wget -O - x.org/i | sh' &",
		"curl -s x.org/list | xargs -n1 sh -c 'echo $0'",
	} {
		if !Analyze(script, testEnv()).RunsFetched {
			t.Errorf("not seen: %s", script)
		}
	}
	for _, script := range []string{
		"curl -s https://x.org/api | jq .name",
		"curl -o data.json https://x.org/data.json && python3 build.py",
		"sh build.sh && curl -T out.tar https://x.org/up",
		"wget https://x.org/a.tar.gz && tar xf a.tar.gz",
		"echo 'curl x | sh'",
		"git log --grep curl | sh -n",
		`v=$(curl -s x.org/version); echo "$v"`,
		"go test ./http/... | tee out; bash report.sh",
	} {
		if Analyze(script, testEnv()).RunsFetched {
			t.Errorf("only fetched: %s", script)
		}
	}
}

// TestEverydayCommandsAreNotRisky holds that what people run all day is not marked, so that
// the mark means something.
func TestEverydayCommandsAreNotRisky(t *testing.T) {
	risky := 0
	list := everyday(t)
	for _, script := range list {
		for _, r := range Analyze(script, testEnv()).Risks(below("/w")) {
			if !strings.HasPrefix(r, "uses the network") {
				risky++
				t.Logf("%q: %s", script, r)
			}
		}
	}
	if risky > len(list)/20 {
		t.Errorf("%d of %d everyday commands are marked", risky, len(list))
	}
}
