// One session as it is shown: its newest messages, kept up to date by events.

import { batch, signal, type Signal } from "@preact/signals";
import { get } from "./http";
import { bytes } from "./text";
import type { Event, History, Info, Message, Part, Todo } from "./wire";

const page = 40;
/** So many messages stay loaded while the reader is at the end. */
const kept = 200;

/** A message whose parts change on their own. */
export interface Entry {
  id: string;
  info: Signal<Info>;
  parts: Signal<Signal<Part>[]>;
  seq: number;
}

interface Delta {
  messageID: string;
  partID: string;
  delta: string;
}

export class Conversation {
  readonly entries = signal<Entry[]>([]);
  readonly more = signal(false);
  readonly loading = signal(true);
  readonly failed = signal("");
  readonly todos = signal<Todo[]>([]);
  private early: Event[] | undefined = [];
  private generation = 0;
  private lengths = new Map<string, number>(); // of open texts, in bytes
  private deltas = new Map<string, string>(); // that wait for the next frame
  private drawing = false;

  constructor(readonly id: string) {}

  /** Loads the newest messages, in place of what is there. */
  async load(): Promise<void> {
    const mine = ++this.generation;
    this.early = [];
    this.failed.value = "";
    try {
      const [h, todos] = await Promise.all([this.history(0), get<Todo[]>(`/session/${this.id}/todo`).catch(() => [])]);
      if (mine !== this.generation) return;
      const waiting = this.early;
      this.early = undefined;
      batch(() => {
        this.lengths.clear();
        this.deltas.clear();
        this.entries.value = h.messages.map((m) => this.entry(m));
        this.more.value = h.more;
        this.todos.value = todos;
        this.loading.value = false;
        for (const ev of waiting) this.apply(ev);
      });
    } catch (err) {
      if (mine !== this.generation) return;
      this.early = undefined;
      batch(() => {
        this.failed.value = err instanceof Error ? err.message : String(err);
        this.loading.value = false;
      });
    }
  }

  /** Loads the messages before the oldest one. */
  async older(): Promise<void> {
    const first = this.entries.value[0];
    if (!first || !this.more.value || this.loading.value) return;
    const mine = this.generation;
    this.loading.value = true;
    try {
      const h = await this.history(first.seq);
      if (mine !== this.generation) return;
      batch(() => {
        const there = new Set(this.entries.value.map((e) => e.id));
        this.entries.value = [...h.messages.filter((m) => !there.has(m.info.id)).map((m) => this.entry(m)), ...this.entries.value];
        this.more.value = h.more;
      });
    } catch {
      // the reader scrolls again
    } finally {
      this.loading.value = false;
    }
  }

  /** Loads older messages until one is there. */
  async reach(message: string): Promise<boolean> {
    while (!this.entries.value.some((e) => e.id === message)) {
      if (!this.more.value) return false;
      const before = this.entries.value.length;
      await this.older();
      if (this.entries.value.length === before) return false;
    }
    return true;
  }

  /** Forgets the oldest messages while nobody looks at them. */
  trim(): void {
    const all = this.entries.value;
    if (all.length <= kept + page) return;
    batch(() => {
      this.entries.value = all.slice(-kept);
      this.more.value = true;
    });
  }

  private history(before: number): Promise<History> {
    return get<History>(`/lathe/session/${this.id}/message`, { limit: page, ...(before > 0 ? { before } : {}) });
  }

  private entry(m: Message): Entry {
    for (const p of m.parts) this.measure(p);
    return { id: m.info.id, info: signal(m.info), parts: signal(m.parts.map((p) => signal(p))), seq: m.lathe?.seq ?? 0 };
  }

  private measure(p: Part): void {
    if (p.type !== "text" && p.type !== "reasoning") return;
    if (p.time?.end === undefined) this.lengths.set(p.id, bytes(p.text));
    else this.lengths.delete(p.id);
  }

  /** Takes an event of this session. */
  apply(ev: Event): void {
    if (this.early) {
      this.early.push(ev);
      return;
    }
    switch (ev.type) {
      case "message.updated":
        this.message((ev.properties as { info: Info }).info, ev.lathe?.seq ?? 0);
        break;
      case "message.removed": {
        const id = (ev.properties as { messageID: string }).messageID;
        this.entries.value = this.entries.value.filter((e) => e.id !== id);
        break;
      }
      case "message.part.updated":
        this.part((ev.properties as { part: Part }).part);
        break;
      case "message.part.removed": {
        const at = ev.properties as { messageID: string; partID: string };
        const e = this.find(at.messageID);
        if (e) e.parts.value = e.parts.value.filter((p) => p.peek().id !== at.partID);
        break;
      }
      case "message.part.delta":
        this.delta(ev.properties as Delta, ev.lathe?.end ?? 0);
        break;
      case "todo.updated":
        this.todos.value = (ev.properties as { todos: Todo[] }).todos;
    }
  }

  private find(id: string): Entry | undefined {
    const all = this.entries.peek();
    for (let i = all.length - 1; i >= 0; i--) {
      if (all[i]?.id === id) return all[i];
    }
    return undefined;
  }

  private message(info: Info, seq: number): void {
    const there = this.find(info.id);
    if (there) {
      there.info.value = info;
      there.seq = seq || there.seq;
      return;
    }
    const all = this.entries.value;
    const e: Entry = { id: info.id, info: signal(info), parts: signal([]), seq };
    if (this.more.value && all[0] && seq !== 0 && seq < all[0].seq) return; // one that is not loaded
    // Ids grow with time, so a message that comes late finds its place by its id.
    let at = all.length;
    while (at > 0 && (all[at - 1]?.id ?? "") > info.id) at--;
    this.entries.value = [...all.slice(0, at), e, ...all.slice(at)];
  }

  private part(p: Part): void {
    const e = this.find(p.messageID);
    if (!e) return;
    this.measure(p);
    this.deltas.delete(p.id);
    const there = e.parts.peek().find((s) => s.peek().id === p.id);
    if (there) there.value = p;
    else e.parts.value = [...e.parts.value, signal(p)];
  }

  /** A piece of a text. It is drawn with the next frame, together with others. */
  private delta(d: Delta, end: number): void {
    const have = this.lengths.get(d.partID);
    if (have === undefined) return;
    const size = bytes(d.delta);
    if (end !== 0 && end <= have) return; // it is there already
    if (end !== 0 && end - size > have) {
      void this.load(); // something between was missed
      return;
    }
    this.lengths.set(d.partID, have + size);
    this.deltas.set(d.partID, (this.deltas.get(d.partID) ?? "") + d.delta);
    this.owner.set(d.partID, d.messageID);
    if (this.drawing) return;
    this.drawing = true;
    nextFrame(() => {
      this.drawing = false;
      this.draw();
    });
  }

  private owner = new Map<string, string>();

  private draw(): void {
    const waiting = this.deltas;
    this.deltas = new Map();
    batch(() => {
      for (const [id, text] of waiting) {
        const part = this.find(this.owner.get(id) ?? "")?.parts.peek().find((s) => s.peek().id === id);
        this.owner.delete(id);
        const now = part?.peek();
        if (part && now && (now.type === "text" || now.type === "reasoning")) part.value = { ...now, text: now.text + text };
      }
    });
  }
}

/** How often a text that grows is drawn again, at most; a reader sees no difference to more. */
const interval = 60;

/** Runs something soon, before a picture is drawn where one is. */
function nextFrame(f: () => void): void {
  setTimeout(() => {
    if (typeof document.visibilityState === "undefined" || document.visibilityState === "hidden") f(); // no frames there
    else requestAnimationFrame(f);
  }, interval);
}
