// Package judge says what a shell script would do, from its words alone: the commands that would run, the files
// that they would read and write, and whether they would reach the network. It runs nothing and opens no file,
// and says if something cannot be known.
//
// [Analyze] parses the script and walks it in the order in which it would run (analyze.go), with what is known
// about the shell at each point: variables, directories, functions (scope.go), and notes what it finds
// (findings.go). Words are expanded where they are static (words.go, expansion.go, arithm.go), and each simple
// command becomes an invocation (commands.go). What a program does with its words is a row of programs.txt, and
// what a variable does a row of variables.txt (table.go, variables.go). Functions know what no row can say: the
// shell's own commands (builtins.go), programs that take other commands among their words (dispatch.go,
// runners.go), git (git.go), and programs with a language of their own (programs.go, code.go). files.go,
// inputs.go and rewrites.go find the files of a command; written.go finds what the script writes and then runs.
//
// The result is an [Analysis]; [Analysis.Requests] turns it into the permissions to ask for.
package judge
