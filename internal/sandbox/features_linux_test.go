//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lathe/internal/sandbox/kerneltest"
)

// withoutFeature names the feature that [TestMain] takes away before the tests run.
const withoutFeature = "SANDBOX_TEST_WITHOUT"

// TestWithoutFeatures runs this program again where the kernel lacks one feature, and then
// holds what level is found, the reason that people are given, and that this level stops
// what it is said to stop.
func TestWithoutFeatures(t *testing.T) {
	if os.Getenv(withoutFeature) != "" {
		t.Skip("one is missing already")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, feature := range []string{kerneltest.UserNamespaces, kerneltest.Landlock, kerneltest.Notification} {
		t.Run(feature, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", "^TestFeatureIsMissing$")
			cmd.Env = append(os.Environ(), withoutFeature+"="+feature)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestFeatureIsMissing") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestFeatureIsMissing is run by TestWithoutFeatures.
func TestFeatureIsMissing(t *testing.T) {
	var most Level
	var reason string
	switch os.Getenv(withoutFeature) {
	case kerneltest.UserNamespaces:
		most, reason = Files, "make namespaces: start a process: operation not permitted"
	case kerneltest.Landlock:
		most, reason = RulesOnly, "the kernel has no Landlock"
	case kerneltest.Notification:
		most = Full
	default:
		t.Skip("run by TestWithoutFeatures")
	}
	if got := Detect(); got != most || !strings.Contains(Missing(), reason) || (reason == "") != (Missing() == "") {
		t.Fatalf("found %s, because %q; want %s, because of %q", got, Missing(), most, reason)
	}
	if most < Full {
		b := NewBox(Options{})
		defer b.Close()
		if _, err := b.Start(Process{Path: "/bin/true"}, Policy{Required: true}); !errors.Is(err, ErrLevel) {
			t.Errorf("what demands more starts: %v", err)
		}
	}
	if most == RulesOnly {
		return
	}
	if told := detect().tells; told != (most == Files) {
		t.Errorf("refusals are told: %t", told)
	}
	var some []escape
	for i, e := range escapes() {
		if i%12 == 0 {
			some = append(some, e)
		}
	}
	holds(t, append(some, adversaries[:8]...))
	if most == Full {
		confinesQuietly(t)
	}
}

// confinesQuietly holds that what is not told is refused all the same.
func confinesQuietly(t *testing.T) {
	w := newWorld(t)
	b := NewBox(Options{Network: OwnNetwork})
	defer b.Close()
	got := w.run(b, w.policy, `echo x > ../outside/file.txt; echo "$?"; echo x > new && cat new`)
	if !strings.HasSuffix(got.out, "1\nx\n") || len(got.refused) > 0 {
		t.Errorf("%+v", got)
	}
}

// without takes away what the environment says, before anything is detected.
func without() {
	feature := os.Getenv(withoutFeature)
	if feature == "" {
		return
	}
	if err := kerneltest.Without(feature); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
