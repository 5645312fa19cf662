package people

import "testing"

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		role, needed string
		want         bool
	}{
		{Reader, Reader, true}, {Reader, Author, false}, {Author, Reader, true}, {Author, Owner, false}, {Owner, Owner, true},
		{"", Reader, false}, {"root", Reader, false}, {Owner, "", false}, {Owner, "public", false},
	} {
		if got := AtLeast(tt.role, tt.needed); got != tt.want {
			t.Errorf("%q for %q: %t", tt.role, tt.needed, got)
		}
	}
}

func TestMayUse(t *testing.T) {
	for dir, want := range map[string]bool{
		"/a": true, "/a/b": true, "/a/b/../c": true, "/ab": false, "/a/../c": false, "/": false, "/b/c": true, "/b/..c": true, "a": false, "": false,
	} {
		if got := MayUse([]string{"/a", "/b"}, dir); got != want {
			t.Errorf("%q: %t", dir, got)
		}
	}
	if !MayUse(nil, "/anything") {
		t.Error("who is not restricted may not use everything")
	}
}

func TestNewToken(t *testing.T) {
	one, id, hash := NewToken()
	two, other, _ := NewToken()
	if !IsToken(one) || IsToken(one+"a") || IsToken(one[1:]) || IsToken("") || IsToken("the server's own password") {
		t.Errorf("%q is not told from other texts", one)
	}
	if one == two || id == other || string(Hash(one)) != string(hash) || len(one) != len(prefix)+52 {
		t.Errorf("%q, %q, %q", one, two, id)
	}
}
