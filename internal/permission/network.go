package permission

import (
	"net/netip"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

// Network is the permission of commands to reach a host. Its patterns are a host, or a
// host and a port that is not one of the web's: "example.org", "example.org:22". In a
// rule, a host without a port means any port, "*.example.org" means the names below
// it, and "10.0.0.0/8" is a range of addresses. Rules for "*" deny nothing here:
// somebody who denies everything not named means tools, and is asked about hosts.
const Network = "network"

// reaching returns the policy as it applies to [Network].
func (p Policy) reaching() Policy {
	soft := func(rules []lathe.Rule) []lathe.Rule {
		if !slices.ContainsFunc(rules, deniesAll) {
			return rules
		}
		out := slices.Clone(rules)
		for i := range out {
			if deniesAll(out[i]) {
				out[i].Action = lathe.AskMe
			}
		}
		return out
	}
	out := Policy{Rules: soft(p.Rules)}
	for _, rules := range p.Ceilings {
		out.Ceilings = append(out.Ceilings, soft(rules))
	}
	return out
}

func deniesAll(r lathe.Rule) bool { return r.Action == lathe.Deny && Everything(r.Permission) }

// usual reports whether nobody needs to be asked about any host of a request. A host
// in a private network does not qualify.
func (s *Service) usual(req tool.Request, p Policy) bool {
	if req.Permission != Network || s.opts.Usual == nil || protected(req.Metadata) || len(req.Patterns) == 0 {
		return false
	}
	return !slices.ContainsFunc(req.Patterns, func(host string) bool {
		return !s.opts.Usual(host) || !p.unnamed(Network, host)
	})
}

// Reporting means that a host was refused without an ask: programs report to their
// makers there. It is nobody's loss, so nobody needs to be told.
type Reporting struct{}

// Error says so.
func (*Reporting) Error() string {
	return "programs report to their makers there; a rule that names the host can allow it"
}

// reports reports whether a request is for hosts of [Options.Reports] alone, and no rule
// names one.
func (s *Service) reports(req tool.Request, p Policy) bool {
	if req.Permission != Network || s.opts.Reports == nil || len(req.Patterns) == 0 {
		return false
	}
	return !slices.ContainsFunc(req.Patterns, func(host string) bool { return !s.opts.Reports(host) || !p.unnamed(Network, host) })
}

// matchHost reports whether a rule's pattern covers a host as a request names it.
func matchHost(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	wantHost, wantPort := splitHost(strings.ToLower(pattern))
	name, port := splitHost(host)
	switch {
	case wantPort == "":
	case port == "" && !Match(wantPort, "443") && !Match(wantPort, "80"):
		return false
	case port != "" && !Match(wantPort, port):
		return false
	}
	ip, err := netip.ParseAddr(name)
	if wide, wideErr := netip.ParsePrefix(wantHost); wideErr == nil {
		return err == nil && wide.Contains(ip)
	}
	if err != nil && numbers(wantHost) {
		return false // 10.* is meant for addresses, but a name may begin like that too
	}
	if same, sameErr := netip.ParseAddr(wantHost); sameErr == nil && err == nil {
		return same.Unmap() == ip
	}
	return Match(strings.TrimSuffix(wantHost, "."), name)
}

// splitHost removes a port. An IPv6 address has one only if it is in brackets.
func splitHost(text string) (host, port string) {
	if rest, ok := strings.CutPrefix(text, "["); ok && !strings.HasPrefix(text, "[*]") && !strings.HasPrefix(text, "[?]") {
		host, port, _ = strings.Cut(rest, "]")
		return host, strings.TrimPrefix(port, ":")
	}
	if strings.Count(text, ":") == 1 {
		host, port, _ = strings.Cut(text, ":")
		return host, port
	}
	return text, ""
}

// numbers reports whether a pattern can only match IPv4 addresses.
func numbers(pattern string) bool {
	return strings.Trim(pattern, "0123456789.*?") == "" && strings.ContainsAny(pattern, "0123456789")
}

// namesHost reports whether a pattern says which hosts it means: one, those below a
// name of at least two parts, or a range of addresses that is not nearly all of them.
func namesHost(pattern string) bool {
	host, _ := splitHost(pattern)
	if wide, err := netip.ParsePrefix(host); err == nil {
		return wide.Bits() >= 8
	}
	if !strings.ContainsAny(host, "*?") {
		return host != ""
	}
	rest, below := strings.CutPrefix(host, "*.")
	if numbers(host) {
		rest, below = strings.CutSuffix(host, ".*")
	}
	return below && strings.Contains(rest, ".") && !strings.ContainsAny(rest, "*?")
}
