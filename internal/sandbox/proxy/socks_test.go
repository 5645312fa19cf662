package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

// Requests as they come, and what the proxy says of each.
func TestSOCKS(t *testing.T) {
	d := &Door{}
	mine := func(string) *Door { return d }
	secret := func(user string) *Door {
		if user == "me" {
			return d
		}
		return nil
	}
	const hi = "\x05\x01\x00"
	for _, tt := range []struct {
		name, in string
		who      func(string) *Door
		out      string
		target   Target
		reply    byte
	}{
		{"name", hi + "\x05\x01\x00\x03\x0bexample.org\x01\xbb", mine, "\x05\x00", Target{"example.org", 443}, socksOK},
		{"IPv4", hi + "\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50", mine, "\x05\x00", Target{"1.2.3.4", 80}, socksOK},
		{"IPv6", hi + "\x05\x01\x00\x04\x20\x01" + string(make([]byte, 13)) + "\x01\x00\x50", mine, "\x05\x00", Target{"2001::1", 80}, socksOK},
		{"mapped IPv4", hi + "\x05\x01\x00\x04" + string(make([]byte, 10)) + "\xff\xff\x7f\x00\x00\x01\x00\x50", mine, "\x05\x00", Target{"127.0.0.1", 80}, socksOK},
		{"UDP", hi + "\x05\x03\x00\x01\x01\x02\x03\x04\x00\x50", mine, "\x05\x00", Target{}, socksNoCommand},
		{"listening", hi + "\x05\x02\x00\x01\x01\x02\x03\x04\x00\x50", mine, "\x05\x00", Target{}, socksNoCommand},
		{"another kind of address", hi + "\x05\x01\x00\x09\x00\x50", mine, "\x05\x00", Target{}, socksNoAddress},
		{"bad name", hi + "\x05\x01\x00\x03\x03a b\x00\x50", mine, "\x05\x00", Target{}, socksNoAddress},
		{"no name", hi + "\x05\x01\x00\x03\x00\x00\x50", mine, "\x05\x00", Target{}, socksNoAddress},
		{"port 0", hi + "\x05\x01\x00\x03\x01a\x00\x00", mine, "\x05\x00", Target{}, socksNoAddress},
		{"cut", hi + "\x05\x01\x00\x03\x0bexam", mine, "\x05\x00", Target{}, socksFailed},
		{"no method that suits", "\x05\x01\x01", mine, "\x05\xff", Target{}, socksFailed},
		{"name given", "\x05\x02\x00\x02\x01\x02me\x00\x05\x01\x00\x03\x01a\x00\x50", secret, "\x05\x02\x01\x00", Target{"a", 80}, socksOK},
		{"wrong name", "\x05\x02\x00\x02\x01\x02no\x01x", secret, "\x05\x02\x01\x01", Target{}, socksFailed},
		{"name needed", hi, secret, "\x05\xff", Target{}, socksFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			_, target, reply := hello(bytes.NewReader([]byte(tt.in)), &out, tt.who)
			if out.String() != tt.out || target != tt.target || reply != tt.reply {
				t.Errorf("said %q, target %v, reply %d", out.String(), target, reply)
			}
		})
	}
}

// The reply says why, as far as SOCKS has words for it.
func TestSOCKSReplies(t *testing.T) {
	for want, err := range map[byte]error{
		socksRefused: &Refused{}, socksNoHost: errors.New("x"), socksLate: &net.OpError{Err: timeout{}},
	} {
		if got := replyTo(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

type timeout struct{}

func (timeout) Error() string { return "late" }
func (timeout) Timeout() bool { return true }

func FuzzSOCKS(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x0bexample.org\x01\xbb"))
	f.Add([]byte("\x05\x02\x00\x02\x01\x02me\x00\x05\x01\x00\x04" + string(make([]byte, 18))))
	d := &Door{}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, open := range []bool{true, false} {
			_, target, reply := hello(bytes.NewReader(in), io.Discard, func(user string) *Door {
				if open || user != "" {
					return d
				}
				return nil
			})
			if reply == socksOK {
				checkTarget(t, target)
			}
		}
	})
}
