// The mark of something that works. It turns by steps, four a second and all together:
// a style animation would have the browser draw sixty pictures a second for it.

import { useEffect, useRef } from "preact/hooks";

const pace = 250;
const turning = new Set<HTMLElement>();
let step = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function turn(): void {
  step = (step + 1) % 8;
  for (const e of turning) e.style.rotate = `${step * 45}deg`;
}

function add(e: HTMLElement): () => void {
  turning.add(e);
  timer ??= setInterval(turn, pace);
  return () => {
    turning.delete(e);
    if (turning.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Turns, where the person did not ask for less motion. What a label says is read out. */
export function Spin(props: { label?: string }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => (place.current && !matchMedia("(prefers-reduced-motion: reduce)").matches ? add(place.current) : undefined), []);
  return props.label === undefined ? <span class="spin" ref={place} /> : <span class="spin" ref={place} role="img" aria-label={props.label} />;
}
