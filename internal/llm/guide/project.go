package guide

import "path"

// commands are how a project is built and tested.
type commands struct{ file, build, test string }

var projectCommands = []commands{
	{"go.mod", "go build ./...", "go test ./..."},
	{"Cargo.toml", "cargo build", "cargo test"},
	{"package.json", "npm run build", "npm test"},
	{"pyproject.toml", "python3 -m build", "python3 -m pytest"},
	{"pytest.ini", "python3 -m build", "python3 -m pytest"},
	{"pom.xml", "mvn -q package", "mvn -q test"},
	{"build.gradle", "gradle build", "gradle test"},
	{"mix.exs", "mix compile", "mix test"},
	{"Makefile", "make", "make test"},
}

// commandsFor returns the commands of a project with these files in its top
// directory; false if none of them says.
func commandsFor(files []string) (commands, bool) {
	for _, c := range projectCommands {
		for _, f := range files {
			if path.Base(f) == c.file {
				return c, true
			}
		}
	}
	return commands{}, false
}

// test runs the tests of the project, or builds it.
type test struct{ build bool }

func (t test) next(s state) reply {
	v, used, more := s.survey()
	if more != nil {
		text := s.in("Let me see how this project is tested.", "我先看看这个项目怎么测试。")
		if t.build {
			text = s.in("Let me see how this project is built.", "我先看看这个项目怎么构建。")
		}
		return reply{text: text, calls: more}
	}
	how, ok := commandsFor(v.files)
	if !ok {
		return s.say("I see no go.mod, Cargo.toml, package.json, pyproject.toml, pom.xml or Makefile at the top of this directory, so I do not know the command. Tell me: `run <command>`.",
			"这个目录最上层没有 go.mod、Cargo.toml、package.json、pyproject.toml、pom.xml 或 Makefile，所以我不知道用什么命令。请告诉我：`运行 <命令>`。")
	}
	command, what := how.test, s.in("Run the tests", "运行测试")
	if t.build {
		command, what = how.build, s.in("Build the project", "构建项目")
	}
	if len(s.results) == used {
		return call("", "bash", args{"command": command, "description": what, "timeout": 600000})
	}
	return ran(s, command)
}
