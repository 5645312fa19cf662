package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"lathe/internal/jsonc"
)

const (
	day    = 24 * time.Hour
	maxAge = 100 * 365 * day
)

var errAge = errors.New(`should be a time of at least a day, such as "180d", "26w" or "2y"`)

// ParseAge reads an [Age]. Months and minutes, which an "m" could both mean, are refused.
func ParseAge(text string) (Age, error) {
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day, "y": 365 * day} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 || time.Duration(n) > maxAge/length {
			return 0, errAge
		}
		return Age(time.Duration(n) * length), nil
	}
	return 0, errAge
}

func (a *Age) decode(d *decoder, v *jsonc.Value, path string) {
	age, err := ParseAge(v.Text)
	if v.Kind != jsonc.String || err != nil {
		d.fail(v, path, "%v", errAge)
		return
	}
	*a = age
}
