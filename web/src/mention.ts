// What can be named with "@": agents, files, names that a language server knows, and
// what MCP servers can be asked to read.

import { get } from "./http";
import { within } from "./text";

export interface Choice {
  insert: string;
  label: string;
  about: string;
}

interface Agent {
  name: string;
  mode?: string;
  description?: string;
}

/** A name in the code. Lines count from 0. */
export interface Named {
  name: string;
  kind: number;
  location: { uri: string; range: { start: { line: number }; end: { line: number } } };
}

export interface Resource {
  name: string;
  uri: string;
  description?: string;
  client: string;
}

const most = { files: 10, symbols: 6, resources: 6 };

/** So many lines are sent of a name whose server tells only where it begins. */
const reach = 40;

/** An "@" and a name end before white space, a comma or a backtick. */
const fits = (name: string) => !/[\s,`]/.test(name);

export function symbols(list: Named[], dir: string): Choice[] {
  const out: Choice[] = [];
  for (const s of list) {
    if (!s.location.uri.startsWith("file://")) continue;
    const path = within(decodeURIComponent(new URL(s.location.uri).pathname), dir);
    const { start, end } = s.location.range;
    const to = end.line > start.line ? end.line + 1 : start.line + reach;
    if (fits(path)) out.push({ insert: `@${path}#${start.line + 1}-${to} `, label: s.name, about: `${path}:${start.line + 1}` });
  }
  return out.slice(0, most.symbols);
}

export function resources(list: Resource[], word: string): Choice[] {
  return list
    .filter((r) => fits(`${r.client}:${r.uri}`) && `${r.client}:${r.uri} ${r.name}`.toLowerCase().includes(word.toLowerCase()))
    .slice(0, most.resources)
    .map((r) => ({ insert: `@${r.client}:${r.uri} `, label: `${r.client}:${r.uri}`, about: [r.name, r.description].filter(Boolean).join(", ") }));
}

/** What a word after "@" may mean. What cannot be asked for is left out. */
export async function mentions(word: string, dir: string, agents: Agent[]): Promise<Choice[]> {
  const named = agents.filter((a) => a.mode === "subagent" && a.name.startsWith(word)).map((a) => ({ insert: `@${a.name} `, label: "@" + a.name, about: a.description ?? "" }));
  const ask = <T>(path: string, query: Record<string, string | number>) => get<T[]>(path, { ...query, directory: dir }).catch(() => []);
  const [files, names, kept] = await Promise.all([
    ask<string>("/lathe/file", { query: word, limit: most.files }),
    word.length < 2 || word.includes("/") ? [] : ask<Named>("/find/symbol", { query: word }),
    ask<Resource>("/lathe/mcp-resource", {}),
  ]);
  return [...named, ...files.map((f) => ({ insert: `@${f}${f.endsWith("/") ? "" : " "}`, label: f, about: "" })), ...symbols(names, dir), ...resources(kept, word)];
}
