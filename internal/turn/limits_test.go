package turn

import (
	"testing"
	"time"
)

func TestLimitsAreTold(t *testing.T) {
	for _, c := range []struct {
		in   Limits
		want string
	}{
		{Limits{}, ""},
		{Limits{Steps: 30}, "This run ends after 30 requests to you. Do what matters first, and leave room to verify it."},
		{Limits{Cost: 2e12, Time: 15 * time.Minute}, "This run ends after a cost of $2.00, or 15m0s. Do what matters first, and leave room to verify it."},
	} {
		if got := c.in.Told(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
}
