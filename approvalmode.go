package lathe

// ApprovalMode is how much a session asks before something is done. A person chooses it for
// the session; no configuration of a repository can. It never lifts a denial.
type ApprovalMode string

// The modes of approval.
const (
	// ByRules asks what the rules say, and nothing else.
	ByRules ApprovalMode = "rules"
	// AskFirst asks before every change and every command as well.
	AskFirst ApprovalMode = "ask"
	// AcceptEdits changes files of the project without asking, and asks before every command.
	AcceptEdits ApprovalMode = "edits"
	// PlanOnly changes nothing: the model works out a plan.
	PlanOnly ApprovalMode = "plan"
	// Auto does what the rules would ask about, as long as commands are confined: changes in the
	// project and commands. What leaves the project is asked about as ever.
	Auto ApprovalMode = "auto"
)

// ApprovalModes returns all modes, in the order in which a key goes through them.
func ApprovalModes() []ApprovalMode {
	return []ApprovalMode{ByRules, AskFirst, AcceptEdits, PlanOnly, Auto}
}
