package run

import "context"

// warn says what a person should know about the directory's configuration.
func (v *view) warn(ctx context.Context) {
	notices, err := v.c.Notices(ctx)
	if err != nil {
		return
	}
	for _, w := range append(notices.Config, notices.Skills...) {
		v.out.Warning(w)
	}
	if notices.Trust != "" {
		v.out.Warning(notices.Trust)
	}
	if !v.out.Quiet {
		for _, line := range v.c.Unsaid(notices.Unused) {
			v.out.Warning(line)
		}
	}
}
