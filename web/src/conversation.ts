// One session as it is shown: its newest messages, kept up to date by events.

import { batch, signal, type Signal } from "@preact/signals";
import { get } from "./http";
import { bytes, fromByte } from "./text";
import type { Event, History, Info, Message, Part, Todo } from "./wire";

const page = 30;
/** So many messages are held at most while someone reads; the far end makes room. */
const most = 150;
/** So many stay while the reader is at the end. */
const kept = 60;
/** So many messages are put in at once, so that no picture has to wait for them. */
const slice = 5;

/** How long, in milliseconds, deltas gather at least before they are drawn. */
const pace = 90;

/** A message whose parts change on their own. */
export interface Entry {
  id: string;
  info: Signal<Info>;
  parts: Signal<Signal<Part>[]>;
  seq: number;
}

/** Which messages to load. */
export interface Which {
  limit: number;
  before?: number;
  after?: number;
  around?: string;
}

/** Where the messages of a session come from. */
export interface Source {
  history(which: Which): Promise<History>;
  todos(): Promise<Todo[]>;
}

function server(id: string): Source {
  return {
    history: (which) => get<History>(`/lathe/session/${id}/message`, { ...which }),
    todos: () => get<Todo[]>(`/session/${id}/todo`).catch(() => []),
  };
}

interface Delta {
  messageID: string;
  partID: string;
  delta: string;
}

export class Conversation {
  readonly entries = signal<Entry[]>([]);
  readonly more = signal(false); // there are older messages than those held
  readonly newer = signal(false); // there are newer ones
  readonly loading = signal(true);
  readonly failed = signal("");
  readonly todos = signal<Todo[]>([]);
  private early: Event[] | undefined = [];
  private generation = 0;
  private lengths = new Map<string, number>(); // of open texts, in bytes
  private deltas = new Map<string, string>(); // that wait to be drawn
  private drawing = false;
  private drawn = 0; // when deltas were last drawn

  constructor(
    readonly id: string,
    private readonly source: Source = server(id),
  ) {}

  /** Loads what is held again, or the newest messages where nothing is held. */
  load(): Promise<void> {
    const all = this.entries.peek();
    const middle = all[all.length >> 1];
    if (this.newer.peek() && middle) return this.replace({ around: middle.id, limit: Math.min(all.length, most) });
    return this.replace({ limit: Math.min(Math.max(all.length, page), most) });
  }

  /** Loads the newest messages, in place of what is there. */
  newest(): Promise<void> {
    return this.replace({ limit: page });
  }

  /** Loads the oldest messages, in place of what is there. */
  oldest(): Promise<void> {
    return this.replace({ after: 0, limit: page });
  }

  private async replace(which: Which): Promise<void> {
    const mine = ++this.generation;
    this.early = [];
    this.failed.value = "";
    try {
      const [h, todos] = await Promise.all([this.source.history(which), this.source.todos()]);
      if (mine !== this.generation) return;
      batch(() => {
        this.lengths.clear();
        this.deltas.clear();
        this.entries.value = h.messages.map((m) => this.entry(m));
        this.more.value = h.more;
        this.newer.value = h.newer ?? false;
        this.todos.value = todos;
        this.loading.value = false;
        this.replay();
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

  /** Loads the messages before the oldest one that is held. */
  async older(): Promise<void> {
    const first = this.entries.value[0];
    if (first && this.more.value) await this.extend({ before: first.seq, limit: page });
  }

  /** Loads the messages after the newest one that is held. */
  async later(): Promise<void> {
    const all = this.entries.value;
    const last = all[all.length - 1];
    if (last && this.newer.value) await this.extend({ after: last.seq, limit: page });
  }

  private async extend(which: Which): Promise<void> {
    if (this.loading.value) return;
    const mine = this.generation;
    const back = which.after === undefined;
    if (!back) this.early = []; // what comes meanwhile may be about what is loaded
    this.loading.value = true;
    try {
      const h = await this.source.history(which);
      for (let rest = h.messages; mine === this.generation; ) {
        const part = back ? rest.slice(-slice) : rest.slice(0, slice);
        rest = back ? rest.slice(0, -slice) : rest.slice(slice);
        batch(() => {
          this.add(part, back);
          if (rest.length > 0) return;
          if (back) this.more.value = h.more;
          else this.newer.value = h.newer ?? false;
        });
        if (rest.length === 0) return;
        await frame();
      }
    } catch {
      // the reader scrolls again
    } finally {
      if (mine === this.generation) {
        this.loading.value = false;
        if (!back) this.replay();
      }
    }
  }

  private replay(): void {
    const waiting = this.early ?? [];
    this.early = undefined;
    for (const ev of waiting) this.apply(ev);
  }

  /** Puts messages in at one end, and forgets as many at the other. */
  private add(list: Message[], back: boolean): void {
    const there = new Set(this.entries.value.map((e) => e.id));
    const made = list.filter((m) => !there.has(m.info.id)).map((m) => this.entry(m));
    const all = back ? [...made, ...this.entries.value] : [...this.entries.value, ...made];
    if (all.length > most) {
      if (back) this.newer.value = true;
      else this.more.value = true;
    }
    this.entries.value = back ? all.slice(0, most) : all.slice(-most);
  }

  /** Loads a message with those around it, unless it is there; reports whether it is now. */
  async reach(message: string): Promise<boolean> {
    const there = () => this.entries.peek().some((e) => e.id === message);
    if (!there()) await this.replace({ around: message, limit: page });
    return there();
  }

  /** Forgets the oldest messages while nobody looks at them. */
  trim(): void {
    const all = this.entries.value;
    if (all.length <= kept + page || this.loading.value) return;
    batch(() => {
      this.entries.value = all.slice(-kept);
      this.more.value = true;
    });
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
    if (this.newer.value) return;
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

  /** A piece of a text. It is drawn soon, together with others. */
  private delta(d: Delta, end: number): void {
    const have = this.lengths.get(d.partID);
    if (have === undefined) return;
    const size = bytes(d.delta);
    if (end !== 0 && end <= have) return; // it is there already
    if (end !== 0 && end - size > have) {
      void this.load(); // something between was missed
      return;
    }
    // Pieces that became one on their way may begin before what is there ends.
    const text = end === 0 ? d.delta : fromByte(d.delta, size - (end - have));
    this.lengths.set(d.partID, end === 0 ? have + size : end);
    this.deltas.set(d.partID, (this.deltas.get(d.partID) ?? "") + text);
    this.owner.set(d.partID, d.messageID);
    if (this.drawing) return;
    this.drawing = true;
    // Not in a frame: what is put in and scrolled to before it makes one picture, not two.
    setTimeout(() => {
      this.drawing = false;
      this.drawn = performance.now();
      this.draw();
    }, this.drawn + pace - performance.now());
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

/** Resolves when the next picture can be drawn; soon, where none is. */
function frame(): Promise<void> {
  return new Promise((done) => {
    if (document.visibilityState === "hidden") setTimeout(done, 0);
    else requestAnimationFrame(() => done());
  });
}
