package api

import "lathe"

// ApprovalMode is how much a session asks before something is done.
type ApprovalMode struct {
	Mode lathe.ApprovalMode `json:"mode"`
}
