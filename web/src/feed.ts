// The stream of events. Tabs of one browser share a connection: one of them, which
// holds a lock, reads the stream and hands the events to the others. Where the browser
// has no locks (an address that is not secure), each tab reads for itself.

import { request, Refused } from "./http";
import { read, type Frame } from "./sse";
import type { Event } from "./wire";

export type Link = "open" | "lost" | "shut";

/** What a feed tells. A batch holds the events that came together. */
export interface Listener {
  events(batch: Event[]): void;
  /** Events were lost: what is shown has to be loaded again. */
  gap(): void;
  link(state: Link): void;
}

type Word =
  | { kind: "events"; batch: Event[]; last: string }
  | { kind: "gap" }
  | { kind: "link"; state: Link; last: string }
  | { kind: "hello" };

const name = "lathe-events";

/** How long, in milliseconds, the server lets the pieces of a text gather. */
const pace = 100;

export class Feed {
  private last = "";
  private waiting = 500;
  private state: Link = "lost";
  private leader = false;
  private everywhere = true;
  private channel: BroadcastChannel | undefined;
  private stop = new AbortController();
  private running = false;

  constructor(private readonly to: Listener) {}

  /** Begins to read, or goes on; a feed that reads is left as it is. */
  start(): void {
    if (this.running) return this.hurry();
    this.running = true;
    this.stop = new AbortController();
    if (typeof navigator.locks === "undefined" || typeof BroadcastChannel === "undefined") {
      void this.lead();
      return;
    }
    this.channel = new BroadcastChannel(`${name}:${document.baseURI.replace(/#.*/, "")}`);
    this.channel.onmessage = (m: MessageEvent<Word>) => this.heard(m.data);
    this.channel.postMessage({ kind: "hello" } satisfies Word);
    navigator.locks.request(`${name}:${document.baseURI.replace(/#.*/, "")}`, { signal: this.stop.signal }, () => this.lead()).catch(() => undefined);
  }

  /** Stops reading, so that another tab may; start goes on where it was. */
  end(): void {
    this.running = false;
    this.leader = false;
    this.stop.abort();
    this.channel?.close();
    this.channel = undefined;
  }

  /** Tries at once instead of waiting. */
  private hurry(): void {
    this.waiting = 0;
    this.wake?.();
  }

  private wake: (() => void) | undefined;

  private heard(w: Word): void {
    switch (w.kind) {
      case "events":
        this.last = w.last || this.last;
        this.to.events(w.batch);
        break;
      case "gap":
        this.to.gap();
        break;
      case "link":
        this.last ||= w.last; // where a tab begins that may have to take over
        this.tell(w.state, false);
        break;
      case "hello":
        if (this.leader) this.channel?.postMessage({ kind: "link", state: this.state, last: this.last } satisfies Word);
    }
  }

  private say(w: Word): void {
    this.channel?.postMessage(w);
  }

  private tell(state: Link, all = true): void {
    this.state = state;
    this.to.link(state);
    if (all) this.say({ kind: "link", state, last: this.last });
  }

  /** Reads the stream, again and again, until the feed ends. */
  private async lead(): Promise<void> {
    const { signal } = this.stop;
    const over = () => signal.aborted;
    this.leader = true;
    while (!over()) {
      try {
        await this.once();
        if (over()) return;
        this.tell("lost");
      } catch (err) {
        if (over()) return;
        this.tell(err instanceof Refused && err.status === 401 ? "shut" : "lost");
      }
      await this.pause();
    }
  }

  private async once(): Promise<void> {
    const res = await this.ask().catch((err: unknown) => {
      if (!(err instanceof Refused && err.status === 403 && this.everywhere)) throw err;
      this.everywhere = false; // the server tells of its own directory only
      return this.ask();
    });
    if (!res.body) throw new Error("the answer has no body");
    await read(res.body, (frames) => this.frames(frames));
  }

  private ask(): Promise<Response> {
    const query = { pace, ...(this.everywhere ? { everywhere: true } : {}), ...(this.last === "" ? {} : { after: this.last }) };
    return request("/lathe/event", query, { signal: this.stop.signal });
  }

  private frames(frames: Frame[]): void {
    const batch: Event[] = [];
    for (const f of frames) {
      const first = this.last === "";
      if (f.id !== "") this.last = f.id;
      const ev = JSON.parse(f.data) as Event;
      if (ev.type === "server.connected") {
        this.waiting = 500;
        this.tell("open");
        if (!first && !(ev.properties as { resumed?: boolean }).resumed) {
          this.to.gap();
          this.say({ kind: "gap" });
        }
      } else if (ev.type !== "server.heartbeat") batch.push(ev);
    }
    if (batch.length === 0) return;
    this.to.events(batch);
    this.say({ kind: "events", batch, last: this.last });
  }

  private pause(): Promise<void> {
    const wait = this.waiting * (0.75 + Math.random() / 2);
    this.waiting = Math.min(Math.max(this.waiting, 250) * 2, 15_000);
    return new Promise((done) => {
      const timer = setTimeout(done, wait);
      this.wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}
