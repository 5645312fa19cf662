package show

import (
	"encoding/json"

	"lathe"
)

// Toast shows a person on the command line what a screen would show for a while, such
// as a failed hook. Merely informative texts are left to screens.
func (o *Output) Toast(ev lathe.ClientEvent) {
	var in struct{ Title, Message, Variant string }
	if ev.Type != "tui.toast.show" || json.Unmarshal(ev.Properties, &in) != nil || in.Message == "" {
		return
	}
	if in.Variant == "warning" || in.Variant == "error" {
		o.Warning(in.Message)
	}
}
