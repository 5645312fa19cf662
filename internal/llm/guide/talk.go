package guide

// What is said rather than done.
type (
	help     struct{}
	greeting struct{}
	thanks   struct{}
	about    struct{}
	connect  struct{}
	undo     struct{}
)

const helpText = "I am lathe's offline guide. I am not a language model, but I can show you how lathe works, " +
	"with real tools on your real files. Try one of these:\n\n" +
	"- give me a tour of this project\n" +
	"- show me a change (a demonstration: diff, ask and undo)\n" +
	"- find TODO\n" +
	"- read README.md, list files in docs\n" +
	"- fix the typos in README.md\n" +
	"- count lines, count go files, count panic\n" +
	"- replace foo with bar in notes.txt\n" +
	"- create hello.txt with hello there\n" +
	"- run git status\n" +
	"- run the tests, build it"

const helpChinese = "我是 lathe 的离线向导，不是语言模型，但可以用真实的工具在你的文件上演示 lathe 怎么工作。试试这些：\n\n" +
	"- 介绍一下这个项目\n" +
	"- 演示一个修改（差异、询问和撤销）\n" +
	"- 查找 TODO\n" +
	"- 读取 README.md，列出 docs 里的文件\n" +
	"- 修正 README.md 的错别字\n" +
	"- 统计行数，有多少 go 文件，统计 panic\n" +
	"- 在 notes.txt 中把 foo 改成 bar\n" +
	"- 创建 hello.txt 内容为 你好\n" +
	"- 运行 git status\n" +
	"- 运行测试，构建项目"

func (help) next(s state) reply { return s.say(helpText, helpChinese) }

// A greeting is answered with the next step, and runs nothing: nobody expects to
// be asked for permission after a hello.
func (greeting) next(s state) reply {
	return s.say("Hello! I am lathe's offline guide. Shall I give you a `tour` of this project, `show me a change`, or `run the tests`?",
		"你好！我是 lathe 的离线向导。要我`介绍一下这个项目`、`演示一个修改`，还是`运行测试`？")
}

func (thanks) next(s state) reply {
	return s.say("You are welcome. "+offers, "不客气。"+offersChinese)
}

func (about) next(s state) reply {
	return s.say("I am lathe's offline guide: rules, not a language model. lathe is a coding agent; connect a model and it reads, edits and runs code here until the work is done. "+offers,
		"我是 lathe 的离线向导：按规则工作，不是语言模型。lathe 是编程助手；连接模型后，它会在这里读取、修改和运行代码，直到完成任务。"+offersChinese)
}

func (connect) next(s state) reply {
	return s.say("Three ways to connect a model:\n\n"+
		"1. `/connect` in the screen, or `lathe auth login anthropic` in a shell (or openai, google, openrouter, …): asks for a key and keeps it in a file that only you can read.\n"+
		"2. A key in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY and others.\n"+
		"3. A local server: Ollama, LM Studio, llama.cpp or vLLM on its usual port is found by itself.\n\n"+
		"`lathe models` lists what can be used then, and `-m provider/model` chooses.",
		"连接模型有三种方法：\n\n"+
			"1. 屏幕里用 `/connect`，命令行用 `lathe auth login anthropic`（或 openai、google、openrouter 等）：输入密钥，保存在只有你能读的文件里。\n"+
			"2. 环境变量：ANTHROPIC_API_KEY、OPENAI_API_KEY、GEMINI_API_KEY、OPENROUTER_API_KEY 等。\n"+
			"3. 本地服务：Ollama、LM Studio、llama.cpp、vLLM 在默认端口上会被自动发现。\n\n"+
			"之后 `lathe models` 列出可用的模型，`-m provider/model` 选择其中一个。")
}

func (undo) next(s state) reply {
	return s.say("Undoing is yours to do, not a model's: `/undo` in the screen takes back the last request with what it did to files, `/redo` brings it back. "+
		"In a shell: `lathe session revert` takes back the newest session here, `lathe session unrevert` undoes that, and `lathe session diff` shows what it changed.",
		"撤销由你来做，而不是模型：屏幕里 `/undo` 撤销上一个请求及其对文件的修改，`/redo` 恢复。命令行里：`lathe session revert` 撤销这里最新的会话，`lathe session unrevert` 恢复，`lathe session diff` 查看修改。")
}
