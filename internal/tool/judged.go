package tool

// MetaUnder is the key of a request's metadata that lists worktree-relative path
// prefixes, as []string: anything that begins with one of them may be written or
// read, which the patterns cannot tell. The empty prefix means any path.
const MetaUnder = "under"

// MetaRuns is the key of a request's metadata that lists texts, as []string, which
// are no reason to ask: only a rule that denies one of them counts.
const MetaRuns = "runs"

// MetaSpelt is the key of a request's metadata that says, as map[string]string, which
// patterns only spell the name of a program otherwise, "build.sh x" for
// "./build.sh x": who allows the one by its name means the other as well.
const MetaSpelt = "spelt"
