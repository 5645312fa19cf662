package redact

import "testing"

func TestVariable(t *testing.T) {
	for variable, want := range map[[2]string]bool{
		{"GITHUB_TOKEN", "x1y2z3"}: true, {"npm_config__authToken", "abc"}: true, {"NODE_AUTH_TOKEN", "abc"}: true,
		{"DB_PASSWORD", "hunter2"}: true, {"PGPASSWORD", "pw"}: true, {"MYSQL_PWD", "pw"}: true, {"DB_PASS", "pw"}: true,
		{"STRIPE_KEY", "abc"}: true, {"OPENAI_API_KEY", "abc"}: true, {"MY_APIKEY", "abc"}: true, {"AWS_ACCESS_KEY_ID", "abc"}: true,
		{"AWS_SECRET_ACCESS_KEY", "abc"}: true, {"AZURE_CLIENT_SECRET", "abc"}: true, {"DJANGO_SECRET_KEY", "abc"}: true, {"GH_PAT", "abc"}: true,
		{"APP_CREDENTIALS", `{"a": 1}`}: true, {"VSCODE_GIT_IPC_AUTH_TOKEN", "abc"}: true,
		{"HARMLESS", "ghp_0123456789abcdefghij"}: true, {"HARMLESS", "-----BEGIN OPENSSH PRIVATE KEY-----\nx"}: true, {"X", "AKIA0123456789ABCDEF"}: true,
		{"DATABASE_URL", "postgres://me:pw@db.example.org/x"}: true, {"REDIS_URL", "redis://:pw@203.0.113.4:6379"}: true,
		{"PGPASSWORD", "12345"}: true, {"REDISCLI_AUTH", "pw"}: true, {"COMPOSER_AUTH", `{"a": {"b": "c"}}`}: true, {"npm_config__auth", "abc"}: true,
		{"DOCKER_AUTH_CONFIG", `{"auths": {}}`}: true, {"TF_TOKEN_app_terraform_io", "abc"}: true, {"RESTIC_PASSWORD", "pw"}: true, {"X_PASSWD", "pw"}: true,
		{"AZURE_STORAGE_CONNECTION_STRING", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc="}: true, {"ConnectionStrings__Main", "Server=db;User=a;Password=pw"}: true,
		{"SERVICEBUS", "Endpoint=sb://x.example.org/;SharedAccessKeyName=a;SharedAccessKey=b="}: true,

		{"KRB5CCNAME", "FILE:/tmp/krb5cc_0"}: false, {"OPTS", "a=1;b=2"}: false, {"PGPASSFILE", "/home/x/.pgpass"}: false, {"SSH_AUTH_INFO", "x"}: false,
		{"DATABASE_URL", "postgres://me:pw@localhost/x"}: false, {"DATABASE_URL", "postgres://me:pw@db:5432/x"}: false, {"REDIS_URL", "redis://:pw@127.0.0.1"}: false,
		{"DATABASE_URL", "postgres://me@db.example.org/x"}: false, {"PIP_INDEX_URL", "https://me:pw@pypi.example.org/simple"}: false, {"HTTPS_PROXY", "http://a:b@p.example.org"}: false,
		{"SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1"}: false, {"XAUTHORITY", "/home/x/.Xauthority"}: false, {"KEYBOARD", "us"}: false, {"GPG_KEY", "E3FF2839C048B25C"}: false,
		{"GOOGLE_APPLICATION_CREDENTIALS", "/home/x/key.json"}: false, {"TOKEN_FILE", "/run/token"}: false, {"MAX_TOKENS", "4096"}: false, {"PWD", "/work"}: false,
		{"OLDPWD", "/"}: false, {"OLD_PWD", "x"}: false, {"GIT_ASKPASS", "x"}: false, {"PUBLIC_KEY", "abc"}: false, {"USE_TOKEN", "true"}: false, {"EMPTY_TOKEN", ""}: false,
		{"TERM_SESSION_ID", "abc"}: false, {"MONKEY", "abc"}: false, {"COMPASS", "n"}: false, {"PATH", "/bin"}: false, {"LS_COLORS", "rs=0:di=01;34"}: false, {"KEY", "abc"}: false,
		{"SKILL", "sk-1"}: false, {"LESSKEY", "x"}: false, {"AUTHOR", "x"}: false,
	} {
		if got := Variable(variable[0], variable[1]); got != want {
			t.Errorf("%s=%s is %v", variable[0], variable[1], got)
		}
	}
}
