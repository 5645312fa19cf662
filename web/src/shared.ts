// Sessions that others shared: a file that was exported, or what a share service has.
// Both come from elsewhere, so everything that is drawn later is looked at here, and what
// is not as it should be is left out.

import type { Which, Source } from "./conversation";
import type { FileDiff, History, Info, Message, Meta, Part, Session, Todo } from "./wire";

/** A session to read. */
export interface Shared {
  session: Session;
  messages: Message[];
  diffs: FileDiff[];
}

type Fields = Record<string, unknown>;

function fields(v: unknown): Fields {
  return typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Fields) : {};
}

function list(v: unknown): unknown[] {
  return Array.isArray(v) ? v : [];
}

function text(v: unknown): string {
  return typeof v === "string" ? v : "";
}

function count(v: unknown): number {
  return typeof v === "number" && Number.isFinite(v) ? v : 0;
}

const word = /^[\w-]{1,80}$/;

function sessionOf(v: unknown): Session {
  const s = fields(v);
  const time = fields(s["time"]);
  const cost = count(s["cost"]);
  return {
    id: word.test(text(s["id"])) ? text(s["id"]) : "ses_shared", directory: text(s["directory"]), projectID: "", title: text(s["title"]),
    time: { created: count(time["created"]), updated: count(time["updated"]) }, ...(cost > 0 ? { cost } : {}),
  };
}

function infoOf(v: unknown): Info | undefined {
  const m = fields(v);
  const id = text(m["id"]);
  const time = fields(m["time"]);
  if (!word.test(id)) return undefined;
  const created = count(time["created"]);
  const agent = text(m["agent"]) || text(m["mode"]);
  if (m["role"] === "user") return { id, role: "user", sessionID: text(m["sessionID"]), time: { created } };
  if (m["role"] !== "assistant") return undefined;
  const tokens = fields(m["tokens"]);
  const cache = fields(tokens["cache"]);
  const failure = fields(m["error"]);
  return {
    id, role: "assistant", sessionID: text(m["sessionID"]), time: { created, completed: count(time["completed"]) || created }, agent, modelID: text(m["modelID"]), cost: count(m["cost"]),
    ...(count(tokens["output"]) === 0 ? {} : { tokens: { input: count(tokens["input"]), output: count(tokens["output"]), reasoning: count(tokens["reasoning"]), cache: { read: count(cache["read"]), write: count(cache["write"]) } } }),
    ...(text(failure["name"]) === "" ? {} : { error: { name: text(failure["name"]), data: { message: text(fields(failure["data"])["message"]) || text(failure["name"]) } } }),
  };
}

/** A part; undefined where it is of a kind that is not shown. */
function partOf(v: unknown): Part | undefined {
  const p = fields(v);
  const head = { id: text(p["id"]), messageID: text(p["messageID"]), sessionID: text(p["sessionID"]) };
  const time = fields(p["time"]);
  const start = count(time["start"]);
  const span = { start, end: count(time["end"]) || start };
  switch (p["type"]) {
    case "text":
      return { ...head, type: "text", text: text(p["text"]), synthetic: p["synthetic"] === true, ignored: p["ignored"] === true, time: span };
    case "reasoning":
      return { ...head, type: "reasoning", text: text(p["text"]), time: span };
    case "file":
      return { ...head, type: "file", mime: text(p["mime"]), filename: text(p["filename"]), url: text(p["url"]) };
    case "tool":
      return { ...head, type: "tool", callID: text(p["callID"]), tool: text(p["tool"]), state: stateOf(p["state"]) };
    case "compaction":
      return { ...head, type: "compaction" };
    case "subtask":
    case "agent":
      return { ...head, type: p["type"], name: text(p["name"]), description: text(p["description"]), prompt: text(p["prompt"]) };
  }
  return undefined;
}

function stateOf(v: unknown) {
  const s = fields(v);
  const time = fields(s["time"]);
  const start = count(time["start"]);
  const both = { input: fields(s["input"]) as Meta, metadata: metaOf(s["metadata"]), time: { start, end: count(time["end"]) || start } };
  if (s["status"] === "completed") {
    const attachments = list(s["attachments"]).map(partOf).filter((p) => p?.type === "file");
    return { ...both, status: "completed" as const, output: text(s["output"]), title: text(s["title"]), attachments };
  }
  return { ...both, status: "error" as const, error: text(s["error"]) || "…" };
}

/** Keeps what a card looks at. A helper's session is elsewhere, so there is no way into it. */
function metaOf(v: unknown): Meta {
  const m = fields(v);
  const out: Meta = {};
  for (const name of ["diff", "output", "exit"]) {
    if (typeof m[name] === "string" || typeof m[name] === "number") out[name] = m[name];
  }
  return out;
}

function diffOf(v: unknown): FileDiff | undefined {
  const d = fields(v);
  const file = text(d["file"]);
  if (file === "") return undefined;
  const patch = text(d["patch"]) || text(d["diff"]);
  return { file, ...(patch === "" ? {} : { patch }), before: text(d["before"]), after: text(d["after"]), additions: count(d["additions"]), deletions: count(d["deletions"]) };
}

function known<T>(all: (T | undefined)[]): T[] {
  return all.filter((v) => v !== undefined);
}

/** The parts of a list of objects, each with a type and data, as share services have them. */
function gathered(objects: unknown[]): { info: unknown; messages: { info: unknown; parts: unknown[] }[]; diffs: unknown[] } {
  let info: unknown;
  let diffs: unknown[] = [];
  const messages = new Map<string, { info: unknown; parts: Map<string, unknown> }>();
  const of = (id: string) => {
    const there = messages.get(id) ?? { info: undefined, parts: new Map<string, unknown>() };
    messages.set(id, there);
    return there;
  };
  for (const o of objects.map(fields)) {
    const data = fields(o["data"]);
    if (o["type"] === "session") info = data;
    else if (o["type"] === "session_diff") diffs = list(o["data"]);
    else if (o["type"] === "message") of(text(data["id"])).info = data;
    else if (o["type"] === "part") of(text(data["messageID"])).parts.set(text(data["id"]), data);
  }
  const parts = (m: Map<string, unknown>) => [...m.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, p]) => p);
  return { info, messages: [...messages.values()].map((m) => ({ info: m.info, parts: parts(m.parts) })), diffs };
}

/** Reads an exported session, or a share service's list; undefined where it is neither. */
export function read(json: unknown): Shared | undefined {
  const from = Array.isArray(json) ? gathered(json) : { info: fields(json)["info"], messages: list(fields(json)["messages"]), diffs: list(fields(json)["diffs"]) };
  if (from.info === undefined) return undefined;
  const messages: Message[] = [];
  const seen = new Set<string>();
  for (const m of from.messages.map(fields)) {
    const info = infoOf(m["info"]);
    if (!info || seen.has(info.id)) continue;
    seen.add(info.id);
    messages.push({ info, parts: known(list(m["parts"]).map(partOf)).map((p, i) => ({ ...p, id: `${info.id}-${i}` })) });
  }
  messages.sort((a, b) => (a.info.id < b.info.id ? -1 : 1));
  messages.forEach((m, i) => (m.lathe = { seq: i + 1 }));
  return { session: sessionOf(from.info), messages, diffs: known(from.diffs.map(diffOf)) };
}

/** Hands the messages of a shared session out in pages, as a server does. */
export class Kept implements Source {
  constructor(private readonly shared: Shared) {}

  history(w: Which): Promise<History> {
    const all = this.shared.messages;
    let from = Math.max(0, all.length - w.limit);
    if (w.around !== undefined) from = Math.max(0, all.findIndex((m) => m.info.id === w.around) - (w.limit >> 1));
    else if (w.after !== undefined) from = w.after;
    const end = w.before === undefined ? Math.min(all.length, from + w.limit) : w.before - 1;
    if (w.before !== undefined) from = Math.max(0, end - w.limit);
    return Promise.resolve({ messages: all.slice(from, end), event: "", more: from > 0, newer: end < all.length });
  }

  todos(): Promise<Todo[]> {
    return Promise.resolve([]);
  }
}
