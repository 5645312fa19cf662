// Where a reader is in a conversation: at its end while it grows, else where they read,
// whatever is put in or taken out above and below.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Conversation } from "./conversation";

/** How near to an end of what is held, in pixels, more is loaded. */
const near = 1_500;

/** The first message that is seen, and how far it is from the top. */
interface Anchor {
  id: string;
  top: number;
}

function anchorOf(box: HTMLElement): Anchor | undefined {
  const list = box.querySelectorAll<HTMLElement>(".message");
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const m = list[middle];
    if (m && m.offsetTop + m.offsetHeight <= box.scrollTop) low = middle + 1;
    else high = middle;
  }
  const first = list[low];
  return first && { id: first.id, top: first.offsetTop - box.scrollTop };
}

class Keeper {
  pinned = true;
  private anchor: Anchor | undefined;
  private last = 0; // where it was scrolled to
  private height = 0; // of everything, then
  private moved = 0; // when the reader last touched something that scrolls

  constructor(
    private readonly box: HTMLElement,
    private readonly c: Conversation,
  ) {}

  /** Called where the height of something changed. */
  keep(): void {
    const { box } = this;
    if (this.pinned) box.scrollTop = box.scrollHeight;
    else if (this.anchor) {
      const e = document.getElementById(this.anchor.id);
      const off = e ? e.offsetTop - box.scrollTop - this.anchor.top : 0;
      if (off !== 0) box.scrollTop += off;
    }
    this.last = box.scrollTop;
    this.height = box.scrollHeight;
  }

  /** Called where the reader uses a wheel, a finger, a key or the scroll bar. */
  touched(): void {
    this.moved = performance.now();
  }

  /**
   * Reports whether the reader went up. A browser goes up by itself where the content got
   * shorter for a moment, so where its height is another one only their hand counts.
   */
  private wentUp(): boolean {
    const { box } = this;
    return box.scrollTop < this.last && (box.scrollHeight === this.height || performance.now() - this.moved < 1_000);
  }

  scrolled(): void {
    const { box, c } = this;
    if (this.pinned && box.scrollTop === this.last) return; // keep did it
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (below < 40 && !c.newer.peek()) this.pinned = true;
    else if (this.pinned && !this.wentUp()) return this.keep();
    else this.pinned = false;
    this.last = box.scrollTop;
    this.height = box.scrollHeight;
    this.anchor = this.pinned ? undefined : anchorOf(box);
    if (this.pinned) c.trim();
    if (box.scrollTop < near) void c.older();
    else if (below < near) void c.later();
  }

  show(id: string): void {
    this.pinned = false;
    this.anchor = { id, top: 12 };
    this.keep();
  }
}

export function useScroll(c: Conversation, ready: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const keeper = useRef<Keeper | undefined>(undefined);
  const [away, setAway] = useState(false);
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    const k = new Keeper(b, c);
    keeper.current = k;
    const watch = new ResizeObserver(() => k.keep());
    // What is put in is followed at once, so that it and where it is scrolled to are one picture.
    const grown = new MutationObserver(() => k.keep());
    const touched = () => k.touched();
    const hands = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
    for (const name of hands) b.addEventListener(name, touched, { passive: true });
    if (b.firstElementChild) {
      watch.observe(b.firstElementChild);
      grown.observe(b.firstElementChild, { childList: true, subtree: true });
    }
    watch.observe(b);
    k.keep();
    return () => {
      watch.disconnect();
      grown.disconnect();
      for (const name of hands) b.removeEventListener(name, touched);
    };
  }, [c, ready]);
  const see = () => setAway(keeper.current?.pinned === false);
  const end = async () => {
    if (c.newer.peek()) await c.newest();
    const k = keeper.current;
    if (!k) return;
    k.pinned = true;
    k.keep();
    see();
  };
  const show = (id: string) => {
    requestAnimationFrame(() => {
      keeper.current?.show(id);
      see();
    });
  };
  const onScroll = () => {
    keeper.current?.scrolled();
    see();
  };
  /** Keys that go to the ends of the whole conversation. */
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.target !== box.current || (e.key !== "Home" && e.key !== "End")) return;
    e.preventDefault();
    if (e.key === "End") return void end();
    void (async () => {
      if (c.more.peek()) await c.oldest();
      const first = c.entries.peek()[0];
      if (first) show(first.id);
    })();
  };
  return { box, away, onScroll, onKeyDown, end, show };
}
