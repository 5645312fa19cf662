package line

import (
	"bytes"
	"testing"
)

// What is sealed for a box, and its answer, is read by nobody else, nor if it was changed.
func TestBox(t *testing.T) {
	box, err := NewBox()
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewBox()
	if err != nil {
		t.Fatal(err)
	}
	sealed, read, err := Seal(box.Key(), []byte("hunter2"))
	if err != nil || bytes.Contains(sealed.Data, []byte("hunter2")) {
		t.Fatalf("%q, %v", sealed.Data, err)
	}
	if data, _, err := other.Open(sealed); err == nil {
		t.Errorf("another opens it: %q", data)
	}
	data, answer, err := box.Open(sealed)
	if err != nil || string(data) != "hunter2" {
		t.Fatalf("%q, %v", data, err)
	}
	out := answer([]byte("welcome"))
	if bytes.Contains(out, []byte("welcome")) {
		t.Error("the answer is not sealed")
	}
	if data, err := read(out); err != nil || string(data) != "welcome" {
		t.Errorf("the answer is %q, %v", data, err)
	}
	sealed.Data[0] ^= 1
	if data, _, err := box.Open(sealed); err == nil {
		t.Errorf("changed, it is %q", data)
	}
	if _, _, err := Seal([]byte("no key"), nil); err == nil {
		t.Error("it is sealed for nobody")
	}
}
