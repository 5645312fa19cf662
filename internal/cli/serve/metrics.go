package serve

import (
	"net/http"
	"time"
)

// both calls two observers of requests.
func both(one, other func(*http.Request, int, time.Time)) func(*http.Request, int, time.Time) {
	return func(r *http.Request, status int, start time.Time) {
		one(r, status, start)
		other(r, status, start)
	}
}
