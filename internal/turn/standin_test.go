package turn

import (
	"testing"
	"time"

	"lathe"
)

// That a model is back is told once, when it is asked again after its rest.
func TestStandInIsBack(t *testing.T) {
	s := &StandIns{}
	m := lathe.ModelRef{Provider: "p", Model: "m", Variant: "high"}
	now := time.Unix(1000, 0)
	if s.back(m, now) {
		t.Error("back without having failed")
	}
	s.fail(m, now)
	if s.back(m, now.Add(standInRest-time.Second)) {
		t.Error("back before it was tried again")
	}
	if !s.back(plainModel(m), now.Add(standInRest)) || s.back(m, now.Add(standInRest)) {
		t.Error("that it is back has to be told once")
	}
}
