package tool

// MetaUnder is the key of a request's metadata that lists worktree-relative path
// prefixes, as []string: anything that begins with one of them may be written or
// read, which the patterns cannot tell. The empty prefix means any path.
const MetaUnder = "under"

// MetaRuns is the key of a request's metadata that lists texts, as []string, that
// are no reason to ask: only a rule that denies one of them counts.
const MetaRuns = "runs"

// MetaSpelt is the key of a request's metadata that says, as map[string]string, which
// patterns are only other spellings of a program's name, "build.sh x" for "./build.sh
// x": somebody who allows one of them by name means the other as well.
const MetaSpelt = "spelt"
