// What the page knows, beside the conversations that are open.

import { batch, computed, effect, signal } from "@preact/signals";
import { Conversation } from "./conversation";
import { Feed, type Link } from "./feed";
import { get, Refused, send, whenShut } from "./http";
import type { Ask, Event, Failure, Model, QuestionAsk, Session, Status } from "./wire";

export const link = signal<Link>("lost");
export const locked = signal(false); // the server asks for its password
export const ready = signal(false); // what the page begins with is there
export const sessions = signal<Map<string, Session>>(new Map());
export const statuses = signal<Map<string, Status>>(new Map());
export const asks = signal<Ask[]>([]);
export const questions = signal<QuestionAsk[]>([]);
export const everywhere = signal(false); // the server tells of all directories
export const directory = signal(""); // where new sessions begin
export const directories = computed(() => {
  const all = new Set([directory.value]);
  for (const s of sessions.value.values()) all.add(s.directory);
  all.delete("");
  return [...all];
});

/** What a person is told, newest last. */
export interface Toast {
  id: number;
  text: string;
  bad: boolean;
}
export const toasts = signal<Toast[]>([]);
let told = 0;

export function tell(text: string, bad = false): void {
  const id = ++told;
  toasts.value = [...toasts.value.slice(-4), { id, text, bad }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((t) => t.id !== id);
  }, bad ? 12_000 : 5_000);
}

/** Does something that may be refused, and tells of it. */
export async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (err) {
    tell(err instanceof Error ? err.message : String(err), true);
    return undefined;
  }
}

const open = new Map<string, { conversation: Conversation; users: number }>();

/** Returns the conversation of a session, loaded, and what to call when it is left. */
export function follow(id: string): { conversation: Conversation; leave: () => void } {
  let held = open.get(id);
  if (!held) {
    held = { conversation: new Conversation(id), users: 0 };
    open.set(id, held);
    if (link.peek() === "open") void held.conversation.load();
  }
  const mine = held;
  mine.users++;
  return {
    conversation: mine.conversation,
    leave: () => {
      mine.users--;
      open.delete(id); // it is the one that was left last
      open.set(id, mine);
      forget();
      setTimeout(() => {
        if (mine.users === 0 && open.get(id) === mine) open.delete(id);
      }, 60_000);
    },
  };
}

/** So many conversations are held that nobody looks at, for a while: people go back and forth. */
const spare = 3;

/** Forgets those beyond that, the one that was left first before the others. */
function forget(): void {
  const left = [...open].filter(([, held]) => held.users === 0);
  for (const [id] of left.slice(0, -spare)) open.delete(id);
}

export const feed = new Feed({
  events(list) {
    batch(() => {
      for (const ev of list) take(ev);
    });
  },
  gap: () => void load(),
  link(state) {
    const before = link.peek();
    link.value = state;
    if (state === "shut") locked.value = true;
    if (state === "open" && (before !== "open" || !ready.peek())) {
      locked.value = false;
      if (!ready.peek()) void load();
    }
  },
});

/** Follows the server, unless it asks for its password first. */
async function enter(): Promise<void> {
  try {
    const login = await get<{ asked: boolean; in: boolean }>("/lathe/login");
    locked.value = login.asked && !login.in;
  } catch {
    // the feed tries again
  }
  if (!locked.value) feed.start();
}

export async function start(): Promise<void> {
  whenShut(() => {
    locked.value = true;
  });
  await enter();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && locked.peek()) void enter(); // another tab may have logged in
  });
  // A page that is put aside holds nothing that others wait for.
  window.addEventListener("pagehide", () => feed.end());
  window.addEventListener("pageshow", (e) => e.persisted && !locked.value && feed.start());
}

let loads = 0;

interface Now {
  directory: string;
  everywhere: boolean;
  status: Record<string, Status>;
  permissions: Ask[];
  questions: QuestionAsk[];
}

/** Loads everything anew: at the start, and when events were missed. */
export async function load(): Promise<void> {
  const mine = ++loads;
  try {
    const now = await get<Now>("/lathe/now");
    const list = await get<Session[]>("/lathe/session", { limit: 500, ...(now.everywhere ? { everywhere: true } : {}) });
    if (mine !== loads) return;
    batch(() => {
      everywhere.value = now.everywhere;
      directory.value ||= now.directory;
      sessions.value = new Map(list.map((s) => [s.id, s]));
      statuses.value = new Map(Object.entries(now.status));
      asks.value = now.permissions;
      questions.value = now.questions;
      if (!ready.value) performance.mark("lathe-ready");
      ready.value = true;
    });
    await Promise.all([...open.values()].map((held) => held.conversation.load()));
  } catch (err) {
    if (!(err instanceof Refused && err.status === 401)) setTimeout(() => void (mine === loads && load()), 2_000);
  }
}

/** Loads the sessions that were archived, or all again. */
export async function archived(): Promise<Session[]> {
  return get<Session[]>("/lathe/session", { archived: "only", limit: 500, ...(everywhere.value ? { everywhere: true } : {}) });
}

function put(s: Session): void {
  const all = new Map(sessions.value);
  if (s.time.archived) all.delete(s.id);
  else all.set(s.id, s);
  sessions.value = all;
}

/** Takes a session that was just made, before its event comes. */
export function known(s: Session): void {
  if (!sessions.value.has(s.id)) put(s);
}

function take(ev: Event): void {
  const p = ev.properties as Record<string, unknown>;
  switch (ev.type) {
    case "session.created":
    case "session.updated":
      put(p["info"] as Session);
      return;
    case "session.deleted": {
      const all = new Map(sessions.value);
      all.delete((p["info"] as Session).id);
      sessions.value = all;
      return;
    }
    case "session.status": {
      const all = new Map(statuses.value);
      const status = p["status"] as Status;
      if (status.type === "idle") all.delete(p["sessionID"] as string);
      else all.set(p["sessionID"] as string, status);
      statuses.value = all;
      return;
    }
    case "session.error": {
      const e = p["error"] as Failure | undefined;
      if (e && e.name !== "MessageAbortedError") tell(e.data?.message ?? e.name, true);
      return;
    }
    case "permission.asked":
      asks.value = [...asks.value.filter((a) => a.id !== p["id"]), p as unknown as Ask];
      return;
    case "permission.replied":
      asks.value = asks.value.filter((a) => a.id !== p["requestID"] && a.id !== p["permissionID"]);
      return;
    case "question.asked":
      questions.value = [...questions.value.filter((q) => q.id !== p["id"]), p as unknown as QuestionAsk];
      return;
    case "question.replied":
    case "question.rejected":
      questions.value = questions.value.filter((q) => q.id !== p["requestID"]);
      return;
    case "lathe.notice":
      tell([p["title"], p["text"]].filter(Boolean).join(": "));
      return;
  }
  const id = sessionOf(p);
  const held = id === undefined ? undefined : open.get(id);
  held?.conversation.apply(ev);
}

function sessionOf(p: Record<string, unknown>): string | undefined {
  for (const from of [p, p["part"], p["info"]] as (Record<string, unknown> | undefined)[]) {
    if (typeof from?.["sessionID"] === "string") return from["sessionID"];
  }
  return undefined;
}

// What a person chose last is kept in this browser.

function kept<T>(name: string, otherwise: T) {
  const key = "lathe." + name;
  const s = signal<T>(otherwise);
  try {
    const raw = localStorage.getItem(key);
    if (raw !== null) s.value = JSON.parse(raw) as T;
  } catch {
    // it begins anew
  }
  effect(() => {
    const v = JSON.stringify(s.value);
    try {
      localStorage.setItem(key, v);
    } catch {
      // the browser keeps nothing
    }
  });
  return s;
}

export type Theme = "system" | "light" | "dark" | "contrast";
export const theme = kept<Theme>("theme", "system");
export const language = kept<string>("language", "");
export const chosenModel = kept<Model | null>("model", null);
export const chosenAgent = kept<string>("agent", "");
export const drafts = kept<Record<string, string>>("drafts", {});
export const terminalReader = kept("terminalReader", false); // terminals speak to screen readers
export const history = kept<string[]>("history", []);

export async function create(dir: string): Promise<Session> {
  const s = await send<Session>("POST", "/session", {}, { directory: dir });
  known(s);
  return s;
}
