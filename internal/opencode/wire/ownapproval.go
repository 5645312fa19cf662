package wire

// OwnApproval is something that a person allowed from then on.
type OwnApproval struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Stored     bool   `json:"stored"` // for the project; else until the process ends
}
