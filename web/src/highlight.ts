// Colours of code. The highlighter is loaded when there is something to colour.

import { safe, type Safe } from "./markdown";
import { plain } from "./text";

const names: Record<string, string> = {
  bash: "bash", sh: "bash", shell: "bash", zsh: "bash", console: "bash", c: "c", h: "c", "c++": "cpp", cc: "cpp", cpp: "cpp", hpp: "cpp", cs: "csharp", csharp: "csharp",
  css: "css", diff: "diff", patch: "diff", dockerfile: "dockerfile", go: "go", golang: "go", html: "xml", xml: "xml", svg: "xml", vue: "xml", ini: "ini", toml: "ini",
  java: "java", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript", javascript: "javascript", json: "json", jsonc: "json", kt: "kotlin", kotlin: "kotlin",
  lua: "lua", makefile: "makefile", make: "makefile", mk: "makefile", md: "markdown", markdown: "markdown", php: "php", pl: "perl", perl: "perl", py: "python", python: "python",
  r: "r", rb: "ruby", ruby: "ruby", rs: "rust", rust: "rust", scss: "scss", sql: "sql", swift: "swift", ts: "typescript", tsx: "typescript", typescript: "typescript",
  yaml: "yaml", yml: "yaml",
};

/** The language of a name or a file's ending; undefined where it is not known. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  return names[lower] ?? names[lower.slice(lower.lastIndexOf(".") + 1)] ?? names[lower.slice(lower.lastIndexOf("/") + 1)];
}

const longest = 100_000;

/** Colours a text; undefined where its language is not known or it is too long. */
export async function highlight(text: string, language: string | undefined): Promise<Safe | undefined> {
  if (language === undefined || text.length > longest || text.split("\n", 5_000).some((line) => line.length > 5_000)) return undefined;
  const { hljs } = await import("./languages");
  return safe(hljs.highlight(plain(text), { language, ignoreIllegals: true }).value);
}
