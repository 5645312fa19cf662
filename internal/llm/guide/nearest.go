package guide

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// nearest answers a request that needs a language model with the part of it that
// the guide can do: show the file in question, or where its words occur.
type nearest struct {
	file string // named in the request
	word string // what it seems to be about; empty if nothing does
}

var (
	fileName   = lazily(`^[\w./@~-]*[\w-]\.[A-Za-z]\w{0,7}$`)
	mentioned  = lazily("[`\"'“「]([^`\"'”」\n]{2,60})[`\"'”」]")
	tokens     = lazily(`[\w./@~-]*\w`)
	identifier = lazily(`[a-z][A-Z]|_|\.[A-Za-z]|^[A-Z][A-Z0-9]{2,}$|::`)
)

// filler are words that say nothing about the subject of a request.
var filler = sync.OnceValue(func() []string {
	return strings.Fields(`about above add adds added after again all also always and another any anything are around ask back bad bash because been before below better between both bug bugs build but
	call can cannot change changes clean code command commands compile could create delete did different does doing done down each easy edit else error errors even every everything example explain
	fast faster feature few file files find first fix folder for from full function get give good hard has have help here how idea implement improve instead into issue issues its just keep know last less let like
	line lines list little long look make many maybe mean might module more most move much must need needs never new nice not nothing now off once one only open optimize other our out over own part please possible
	probably problem problems program project put question quickly read really refactor remove repo repository rewrite right run same say see should show simple small some something start still stop sure take tell test tests
	than that the their them then there these they thing things think this those through time too try two under understand update use used using very want was way well were what when where whether which while who whole
	why will with without word work working works would write wrong yes you your`)
})

func nearestTo(prompt string) intent {
	if len(prompt) > longest {
		prompt = prompt[:longest]
	}
	var n nearest
	if m := mentioned().FindStringSubmatch(prompt); m != nil && !fileName().MatchString(m[1]) {
		n.word = m[1]
	}
	best := 0
	for _, t := range tokens().FindAllString(prompt, -1) {
		switch {
		case fileName().MatchString(t) || strings.EqualFold(t, "readme"):
			if n.file == "" {
				n.file = readmeOr(referred(t))
			}
		case n.word != "" && best == 0: // what is quoted wins
		default:
			if w := weight(t); w > best {
				n.word, best = t, w
			}
		}
	}
	return n
}

// weight says how likely it is that a word is the subject of a request.
func weight(word string) int {
	low := strings.ToLower(word)
	switch {
	case len(word) < 3 || slices.Contains(filler(), low) || !strings.ContainsFunc(word, unicode.IsLetter):
		return 0
	case identifier().MatchString(word):
		return 100 + len(word)
	}
	return len(word)
}

func (n nearest) next(s state) reply {
	sorry := s.in("That takes a language model, and I am not a language model. ", "这需要语言模型，而我不是语言模型。")
	switch {
	case n.file == "" && n.word == "":
		return s.say(sorry+offers, sorry+offersChinese)
	case len(s.results) == 0 && n.file != "":
		return call(sorry+s.in("What I can do is show you the file.", "我能做的是把这个文件给你看。"), "read", args{"filePath": n.file, "limit": 60})
	case len(s.results) == 0:
		return call(sorry+s.in("What I can do is look where `"+n.word+"` stands.", "我能做的是查找 `"+n.word+"` 出现在哪里。"), "grep", args{"pattern": regexp.QuoteMeta(n.word)})
	}
	out := s.last().Output
	_, bad := s.failed()
	switch text := fileText(out); {
	case bad, n.file == "" && !strings.HasPrefix(out, "Found"):
		about := n.file + n.word
		if n.file != "" {
			about = n.file
		}
		return s.say("I am not a language model, so this is as near as I come: I found no `%s` here. "+offers, "我不是语言模型，能做的有限：这里没有找到 `%s`。"+offersChinese, about)
	case n.file != "":
		return s.say("I am not a language model, so I cannot do that by myself. This is `%s`:\n\n%s\n\nIf you know what should change, say `replace <old> with <new> in %[1]s`; `fix the typos in %[1]s` mends common misspellings.",
			"我不是语言模型，无法自己完成。这是 `%s`：\n\n%s\n\n如果你知道要改什么，请说：`在 %[1]s 中把 <旧> 改成 <新>`；`修正 %[1]s 的错别字` 可以改正常见的英文拼写错误。",
			n.file, fence(clip(s, text, 40)))
	}
	return s.say("I am not a language model, so I cannot do that by myself. Here is where `%s` stands:\n\n%s\n\nSay `read <file>` to see one of them, or `replace <old> with <new> in <file>`.",
		"我不是语言模型，无法自己完成。`%s` 出现在这些地方：\n\n%s\n\n可以说：`读取 <文件>`，或 `在 <文件> 中把 <旧> 改成 <新>`。", n.word, s.found(out))
}

const (
	offers = "The nearest that I can do: `give me a tour of this project`, `find <word>`, `read <file>`, `replace <old> with <new> in <file>`, " +
		"`run the tests`, or `show me a change`. `help` lists everything."
	offersChinese = "我能做的最接近的事：`介绍一下这个项目`、`查找 <词>`、`读取 <文件>`、`在 <文件> 中把 <旧> 改成 <新>`、`运行测试`、`演示一个修改`。说 `帮助` 可以看到全部。"
)
