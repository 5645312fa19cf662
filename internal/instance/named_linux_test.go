package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/sandbox"
)

// Credentials that a variable moves elsewhere are hidden there, unless the project has them,
// and the variables that hold some are not passed on.
func TestNamedCredentialsAreHidden(t *testing.T) {
	if sandbox.Detect() < sandbox.Files {
		t.Skip("nothing confines here: " + sandbox.Missing())
	}
	const secret = "PLANTED" + "-SECRET"
	home, vars := everydayHome(t)
	dir, keys := filepath.Join(home, "work"), filepath.Join(home, "keys")
	plant(t, dir, vars)
	var files []string
	for variable, name := range map[string]string{
		"KUBECONFIG": "cluster", "AWS_SHARED_CREDENTIALS_FILE": "cloud", "AWS_CONFIG_FILE": "clouds", "GOOGLE_APPLICATION_CREDENTIALS": "google.json", "DOCKER_CONFIG": "docker/config.json",
		"NETRC": "net", "GNUPGHOME": "gpg/key", "CARGO_HOME": "cargo/credentials.toml", "npm_config_userconfig": "npm", "PGPASSFILE": "pg", "GH_CONFIG_DIR": "gh/hosts.yml",
		"AZURE_CONFIG_DIR": "azure/tokens", "CLOUDSDK_CONFIG": "gcloud/db", "VAULT_TOKEN_FILE": "vault",
	} {
		path := filepath.Join(keys, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(secret), 0o644)); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
		vars = append(vars, variable+"="+filepath.Join(keys, strings.Split(name, "/")[0]))
	}
	own := filepath.Join(dir, "rclone.conf")
	if err := os.WriteFile(own, []byte("the project's"), 0o644); err != nil {
		t.Fatal(err)
	}
	vars = append(vars, "RCLONE_CONFIG="+own, "PGPASSWORD="+secret, "COMPOSER_AUTH="+secret, "A_KEY="+secret, "EDITION=third")
	_, _, bash := everydayInstance(t, dir, vars)
	for _, path := range files {
		res, reasons := askedAgain(t, bash, "cat "+path[:len(path)-1]+"?", errors.New("no")) // the words do not name it
		if strings.Contains(res.Output, secret) || len(reasons) != 1 || !strings.Contains(reasons[0], "it may not read "+keys) {
			t.Errorf("%s is read: asked %q\n%s", path, reasons, res.Output)
		}
	}
	res, _ := askedAgain(t, bash, "env; cat $RCLONE_CONFIG", nil)
	if strings.Contains(res.Output, secret) || !strings.Contains(res.Output, "EDITION=third") || !strings.Contains(res.Output, "the project's") {
		t.Errorf("commands see\n%s", res.Output)
	}
}
