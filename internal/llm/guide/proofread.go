package guide

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe/internal/order"
	"lathe/internal/say"
)

// proofread corrects common misspellings in a file.
type proofread struct{ file string }

// misspelled are words that are always wrong in English, and what they should be.
var misspelled = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"teh": "the", "hte": "the", "adn": "and", "taht": "that", "thier": "their", "wich": "which", "whcih": "which", "becuase": "because", "beacuse": "because",
		"recieve": "receive", "recieved": "received", "recieves": "receives", "beleive": "believe", "acheive": "achieve", "wierd": "weird", "freind": "friend",
		"seperate": "separate", "seperated": "separated", "seperately": "separately", "definately": "definitely", "neccessary": "necessary", "necesary": "necessary",
		"occured": "occurred", "occurence": "occurrence", "occuring": "occurring", "refered": "referred", "prefered": "preferred", "transfered": "transferred",
		"succesful": "successful", "successfull": "successful", "succesfully": "successfully", "sucess": "success", "accross": "across", "adress": "address", "adresses": "addresses",
		"begining": "beginning", "comming": "coming", "commited": "committed", "commiting": "committing", "completly": "completely", "dependancy": "dependency", "dependancies": "dependencies",
		"enviroment": "environment", "enviroments": "environments", "existance": "existence", "explicitely": "explicitly", "formating": "formatting", "funtion": "function", "fucntion": "function",
		"gaurantee": "guarantee", "guarentee": "guarantee", "independant": "independent", "initalize": "initialize", "intial": "initial", "langauge": "language", "lenght": "length", "heigth": "height", "widht": "width",
		"maintainance": "maintenance", "maintenence": "maintenance", "mispelled": "misspelled", "mispell": "misspell", "occassion": "occasion", "ommit": "omit", "ommited": "omitted",
		"paramter": "parameter", "paramters": "parameters", "paramater": "parameter", "perfomance": "performance", "performace": "performance", "persistant": "persistent", "posible": "possible", "possiblity": "possibility",
		"preceeding": "preceding", "priviledge": "privilege", "privilage": "privilege", "programm": "program", "publically": "publicly", "reccomend": "recommend", "recomend": "recommend", "recomended": "recommended",
		"reponse": "response", "respository": "repository", "repositry": "repository", "retreive": "retrieve", "retreived": "retrieved", "shoud": "should", "wiht": "with", "similiar": "similar", "sytem": "system",
		"tommorow": "tomorrow", "tounge": "tongue", "truely": "truly", "unkown": "unknown", "untill": "until", "useage": "usage", "usefull": "useful", "vaild": "valid", "varaible": "variable", "varible": "variable",
		"verison": "version", "writting": "writing", "yeild": "yield", "ressource": "resource", "ressources": "resources", "implmentation": "implementation", "implemention": "implementation", "configration": "configuration",
		"documention": "documentation", "documenation": "documentation", "instalation": "installation", "avaliable": "available", "availible": "available", "compatability": "compatibility", "compatable": "compatible",
		"flexability": "flexibility", "garanteed": "guaranteed", "immediatly": "immediately", "explaination": "explanation", "exmaple": "example", "exmaples": "examples", "proccess": "process", "projct": "project",
	}
})

var (
	englishWord = lazily(`[A-Za-z]+`)
	inlineCode  = lazily("`[^`]*`|https?://\\S+")
	doubled     = lazily(`\b([Tt]he the|[Aa]nd and|[Oo]f of|[Tt]o to|[Ii]s is|[Ii]n in|[Aa] a|[Ff]or for|[Ww]ith with)\b`)
)

// slip is a misspelling: a line that has it, and the line without.
type slip struct{ wrong, right, line, mended string }

// slips finds the misspellings of a text; code in it is left alone.
func slips(text string) []slip {
	var out []slip
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if mark := strings.TrimSpace(line); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			continue
		}
		out = append(out, slipsIn(line)...)
	}
	return out
}

func slipsIn(line string) []slip {
	type place struct {
		at    []int
		right string
	}
	var found []place
	code := inlineCode().FindAllStringIndex(line, -1)
	hidden := func(at []int) bool {
		return slices.ContainsFunc(code, func(c []int) bool { return c[0] <= at[0] && at[1] <= c[1] })
	}
	for _, at := range englishWord().FindAllStringIndex(line, -1) {
		if right := spelled(line[at[0]:at[1]]); right != "" && !hidden(at) {
			found = append(found, place{at, right})
		}
	}
	for _, at := range doubled().FindAllStringIndex(line, -1) {
		if first, _, _ := strings.Cut(line[at[0]:at[1]], " "); !hidden(at) {
			found = append(found, place{at, first})
		}
	}
	order.Stable(found, func(a, b place) int { return b.at[0] - a.at[0] }) // from the end, so that earlier positions stay valid
	mended := line
	for _, f := range found {
		mended = mended[:f.at[0]] + f.right + mended[f.at[1]:]
	}
	var out []slip
	for _, f := range slices.Backward(found) {
		out = append(out, slip{line[f.at[0]:f.at[1]], f.right, line, mended})
	}
	return out
}

// spelled returns how a misspelled word is written, in the case that it has.
func spelled(word string) string {
	right := misspelled()[strings.ToLower(word)]
	switch {
	case right == "":
		return ""
	case word == strings.ToUpper(word):
		return strings.ToUpper(right)
	case word[:1] == strings.ToUpper(word[:1]):
		return strings.ToUpper(right[:1]) + right[1:]
	}
	return right
}

func (p proofread) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "read", args{"filePath": p.file})
	}
	if first := s.results[0]; first.Failed {
		return s.say("I could not read %s: %s", "无法读取 %s：%s", p.file, plain(first.Output))
	}
	text := fileText(s.results[0].Output)
	found := slips(text)
	if len(found) == 0 {
		return s.say("I read %[4]s of %[2]s and found none of the %[3]d misspellings that I know, and no word that stands twice. I am not a language model, so I may miss some. "+
			"If you know it, tell me: `replace <wrong> with <right> in %[2]s`.",
			"我读了 %[2]s 的 %[1]d 行，没有发现我认识的 %[3]d 种英文拼写错误，也没有重复的词。我不是语言模型，可能会漏掉。如果你知道哪里错了，请告诉我：`在 %[2]s 中把 <错误> 改成 <正确>`。",
			strings.Count(text, "\n"), p.file, len(misspelled()), say.Plural(strings.Count(text, "\n"), "line"))
	}
	edits := editsFor(found)
	if done := len(s.results) - 1; done == 0 {
		return reply{calls: calls(p.file, edits)}
	}
	for _, r := range s.results[1:] {
		if r.Failed {
			return s.say("I could not change %s: %s", "无法修改 %s：%s", p.file, plain(r.Output))
		}
	}
	var told []string
	for _, f := range found {
		told = append(told, fmt.Sprintf("`%s` → `%s`", f.wrong, f.right))
	}
	slices.Sort(told)
	return s.say("I mended %s: %s. Take it back with `/undo`, or `lathe session revert` in a shell.", "已改正 %s：%s。撤销：`/undo`，命令行用 `lathe session revert`。",
		p.file, strings.Join(slices.Compact(told), ", "))
}

// editsFor returns the lines to change, each once.
func editsFor(found []slip) []slip {
	var out []slip
	for _, f := range found {
		if !slices.ContainsFunc(out, func(o slip) bool { return o.line == f.line }) {
			out = append(out, f)
		}
	}
	return out
}

func calls(file string, edits []slip) []toolCall {
	var out []toolCall
	for _, e := range edits {
		out = append(out, toolCall{"edit", args{"filePath": file, "oldString": e.line, "newString": e.mended, "replaceAll": true}})
	}
	return out
}
