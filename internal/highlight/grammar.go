package highlight

// grammarOf returns what is known about a language, or nil.
func grammarOf(lang string) *grammar {
	switch lang {
	case "go", "golang":
		return &grammar{
			keywords: " break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota ",
			types:    " any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr ",
			line:     []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: []string{"`"},
		}
	case "py", "python", "pyi":
		return &grammar{
			keywords: " and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self ",
			types:    " int float str bytes bool list dict set tuple object type ",
			line:     []string{"#"}, quotes: `"'`, long: []string{`"""`, "'''"},
		}
	case "js", "javascript", "jsx", "ts", "typescript", "tsx", "mjs", "cjs":
		return &grammar{
			keywords: " as async await break case catch class const continue debugger default delete do else enum export extends finally for from function get if implements import in instanceof interface let new null of private protected public readonly return set static super switch this throw true false try type typeof undefined var void while yield ",
			types:    " any bigint boolean never number object string symbol unknown ",
			line:     []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: []string{"`"},
		}
	case "rs", "rust":
		return &grammar{
			keywords: " as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while ",
			types:    " bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize ",
			line:     []string{"//"}, open: "/*", close: "*/", quotes: `"`,
		}
	case "c", "h", "cpp", "cc", "cxx", "hpp", "c++", "java", "cs", "csharp", "kt", "kotlin", "swift", "scala", "dart", "php", "proto":
		return &grammar{
			keywords: " abstract as auto break case catch class const constexpr continue data def default delete do else enum explicit export extends extern final finally for foreach fun func function goto guard if implements import in inline instanceof interface internal is let match message mutable namespace new null nil nullptr object operator override package private protected protocol public record repeated return sealed self service sizeof static struct super switch template this throw throws trait true false try typedef typename union use using val var virtual void volatile when where while yield ",
			types:    " bool boolean byte char double float int int8_t int16_t int32_t int64_t long short signed size_t string uint8_t uint16_t uint32_t uint64_t unsigned ",
			line:     []string{"//"}, open: "/*", close: "*/", quotes: `"'`,
		}
	case "sh", "bash", "zsh", "shell", "console", "fish", "dockerfile", "make", "makefile":
		return &grammar{
			keywords: " if then else elif fi case esac for while until do done in function select return exit break continue local export readonly declare unset set source alias trap shift FROM RUN COPY ADD ENV WORKDIR ENTRYPOINT CMD EXPOSE ARG USER ",
			types:    " cd echo printf test read eval exec sudo ",
			line:     []string{"# ", "#!", "#\t"}, quotes: `"'`, shell: true,
		}
	case "rb", "ruby", "ex", "elixir", "lua":
		return &grammar{
			keywords: " alias and begin break case class def defmodule defp do else elsif end ensure false fn for function if in local module next nil not or raise repeat require rescue return self super then true unless until use when while yield ",
			line:     []string{"# ", "#!", "--"}, quotes: `"'`,
		}
	case "sql", "psql", "sqlite", "mysql":
		return &grammar{
			keywords: " add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end except exists explain foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with ",
			types:    " bigint blob boolean char date decimal double float integer int json jsonb numeric real serial smallint text timestamp timestamptz uuid varchar ",
			line:     []string{"--"}, open: "/*", close: "*/", quotes: `'"`, fold: true,
		}
	case "json", "jsonc", "json5":
		return &grammar{keywords: " true false null ", line: []string{"//"}, open: "/*", close: "*/", quotes: `"`}
	case "yaml", "yml", "toml", "ini", "conf", "env", "properties":
		return &grammar{keywords: " true false null yes no on off ", line: []string{"#", ";"}, quotes: `"'`, dash: true}
	case "css", "scss", "less":
		return &grammar{keywords: " important inherit none auto ", line: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, dash: true}
	case "html", "xml", "svg", "vue", "svelte", "htm":
		return &grammar{open: "<!--", close: "-->", quotes: `"`, markup: true}
	}
	return nil
}
