package serve

import (
	"strings"
	"testing"

	"lathe/internal/config"
)

// What is wrong with the configuration of an issuer is said when the server starts.
func TestCheckIssuer(t *testing.T) {
	good := config.OIDC{Issuer: "https://id.example.com/realms/team", ClientID: "lathe"}
	for want, change := range map[string]func(*config.OIDC){
		"":                         func(*config.OIDC) {},
		"no address of an issuer":  func(o *config.OIDC) { o.Issuer = "http://id.example.com" },
		"\"id\" is no address":     func(o *config.OIDC) { o.Issuer = "id" },
		"oidc.clientId is missing": func(o *config.OIDC) { o.ClientID = "" },
		"oidc.create: \"king\"":    func(o *config.OIDC) { o.Create = "king" },
		"but not oidc.claims.role": func(o *config.OIDC) { o.Roles = map[string]string{"a": "owner"} },
		"oidc.roles: \"king\" of":  func(o *config.OIDC) { o.Claims.Role, o.Roles = "groups", map[string]string{"a": "king"} },
		"none, for this machine":   nil,
	} {
		o := good
		if change == nil {
			o.Issuer, o.Create, o.Claims.Role, o.Roles, want = "http://127.0.0.1:8080", "reader", "groups", map[string]string{"a": "owner"}, ""
		} else {
			change(&o)
		}
		err := checkIssuer(o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
