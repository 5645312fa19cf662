package guide

// demo is a change that shows how lathe makes one: the diff, the ask and the
// way back. It touches one new file of its own.
type demo struct{}

const (
	demoFile = "lathe-demo.md"
	demoText = "# A change to look at\n\nThis file was made by lathe's offline guide. Nothing else was touched.\n\n- apples: 2\n- pears: 3\n"
	demoOld  = "- pears: 3\n"
	demoNew  = "- pears: 4\n- plums: 5\n"
)

func (demo) next(s state) reply {
	if msg, bad := s.failed(); bad && len(s.results) < 4 {
		return s.say("The demonstration stopped: %s", "演示中断了：%s", plain(msg))
	}
	switch len(s.results) {
	case 0:
		return call(s.in("First I look whether the name is free.", "先看看这个文件名是否已被占用。"), "glob", args{"pattern": demoFile})
	case 1:
		if len(lines(s.results[0].Output)) > 0 {
			return s.say("There is a `%s` already, perhaps from an earlier demonstration. Take that back first (/undo in the screen, `lathe session revert` in a shell), or remove it: `run rm %[1]s`.",
				"`%s` 已经存在，可能是上次演示留下的。请先撤销（屏幕里用 /undo，命令行用 `lathe session revert`），或删除它：`运行 rm %[1]s`。", demoFile)
		}
		return call(s.in("A new file:", "新建一个文件："), "write", args{"filePath": demoFile, "content": demoText})
	case 2:
		return call(s.in("Now a change in it, shown as a diff. Lines with - go, lines with + come:", "再修改它，修改以差异显示：- 开头的行被删除，+ 开头的行是新增的："), "edit",
			args{"filePath": demoFile, "oldString": demoOld, "newString": demoNew})
	case 3:
		if s.attended {
			return call(s.demoEnd()+s.in("\n\nLast, something that lathe does not do unasked: looking at what is outside this directory. Allow it or refuse it, nothing depends on it.",
				"\n\n最后是一件需要先征得同意的事：查看本目录之外的内容。允许或拒绝都可以，不影响其他步骤。"), "read", args{"filePath": "/usr/share", "limit": 5})
		}
		return s.say(s.demoEnd()+"\n\n"+noAsk, s.demoEnd()+"\n\n"+noAskChinese)
	}
	return s.say("That was the ask. Rules answer asks for you: see `lathe permissions --help`. The file `%s` is still there; take it back with `/undo`, or `lathe session revert` in a shell.",
		"这就是一次询问。可以用规则代替每次回答：见 `lathe permissions --help`。文件 `%s` 还在；用 `/undo`（命令行：`lathe session revert`）撤销。", demoFile)
}

const (
	noAsk = "Some calls ask first: those that leave this directory, and those that your rules name. Nobody can be asked here, so they would be refused; " +
		"on a terminal this demonstration shows such an ask."
	noAskChinese = "有些操作会先征求同意：离开本目录的，以及规则指定的。这里没有人可以回答，所以会直接拒绝；在终端里运行本演示就能看到这样的询问。"
)

func (s state) demoEnd() string {
	return s.in("That was a change: a new file `"+demoFile+"`, then an edit of it, both shown as diffs. "+
		"Take it back with `/undo` in the screen, or with `lathe session revert` in a shell; `lathe session unrevert` brings it back again.",
		"这就是一次修改：新建了 `"+demoFile+"`，又编辑了它，两步都显示了差异。"+
			"撤销：屏幕里用 `/undo`，命令行用 `lathe session revert`；`lathe session unrevert` 可以恢复。")
}
