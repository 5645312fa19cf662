package serve

import (
	"context"
	"net/url"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/oidc"
	"lathe/internal/people"
	"lathe/internal/server"
	"lathe/internal/server/gate"
)

// issuerOf returns the issuer that the person's own configuration names; nil if it names none.
// It is asked for nothing before somebody comes with one of its tokens.
func issuerOf(ctx context.Context, env *console.Env, a *app.App) (*server.OIDC, error) {
	conf, err := app.OwnConfig(ctx, env)
	if err != nil || conf.OIDC.Issuer == "" {
		return nil, err
	}
	if a.Keys == nil { // a store without people
		return nil, lathe.Errorf(lathe.CodeInvalid, `name it with --store, LATHE_STORE or "server": {"store": …}; one machine needs only a password: take "oidc" out of your configuration`,
			"oidc names people, who are kept in a PostgreSQL, and the sessions here are in files")
	}
	o := conf.OIDC
	if err := checkIssuer(o); err != nil {
		return nil, err
	}
	return &server.OIDC{URL: o.URL, Create: o.Create, Issuer: oidc.New(oidc.Options{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, Audiences: o.Audiences, NameClaim: o.Claims.Name, RoleClaim: o.Claims.Role,
		Roles: o.Roles, Scopes: o.Scopes, Now: env.Now,
	})}, nil
}

// checkIssuer says what is wrong with the configuration of an issuer.
func checkIssuer(o config.OIDC) error {
	at, err := url.Parse(o.Issuer)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "https" && !(at.Scheme == "http" && gate.Loopback(at.Hostname())):
		return lathe.Errorf(lathe.CodeInvalid, "write it as https://id.example.com; http is for this machine", "oidc.issuer: %q is no address of an issuer", o.Issuer)
	case o.ClientID == "":
		return lathe.Errorf(lathe.CodeInvalid, "register lathe at the issuer, and write here what it is called there", "oidc.clientId is missing")
	case o.Create != "" && !people.IsRole(o.Create):
		return lathe.Errorf(lathe.CodeInvalid, "use reader, author or owner, or leave it out", "oidc.create: %q is no role", o.Create)
	case o.Claims.Role == "" && len(o.Roles) > 0:
		return lathe.Errorf(lathe.CodeInvalid, "name the claim that has the groups: \"claims\": {\"role\": \"groups\"}", "oidc.roles is there, but not oidc.claims.role")
	}
	for group, role := range o.Roles {
		if !people.IsRole(role) {
			return lathe.Errorf(lathe.CodeInvalid, "use reader, author or owner", "oidc.roles: %q of %q is no role", role, group)
		}
	}
	return nil
}
