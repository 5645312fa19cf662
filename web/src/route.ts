// Where the page is: what stands behind "#" in its address.

import { signal } from "@preact/signals";

export type Place = { kind: "start" } | { kind: "sessions"; ids: string[]; message: string } | { kind: "costs" } | { kind: "settings" } | { kind: "shared" };

export function parse(hash: string): Place {
  const [kind, ids, message] = hash.replace(/^#\/?/, "").split("/");
  if (kind === "s" && ids) return { kind: "sessions", ids: ids.split(",").filter((id) => /^ses_\w+$/.test(id)).slice(0, 4), message: message ?? "" };
  if (kind === "costs" || kind === "settings" || kind === "shared") return { kind };
  return { kind: "start" };
}

export const place = signal<Place>(typeof location === "undefined" ? { kind: "start" } : parse(location.hash));

export function listen(): void {
  window.addEventListener("hashchange", () => {
    place.value = parse(location.hash);
  });
}

export function toSession(id: string, message = ""): string {
  return `#/s/${id}${message === "" ? "" : "/" + message}`;
}

/** The address with one session more beside those that are shown. */
export function beside(id: string): string {
  const p = place.value;
  const ids = p.kind === "sessions" ? [...p.ids.filter((s) => s !== id), id].slice(-4) : [id];
  return `#/s/${ids.join(",")}`;
}

export function without(id: string): string {
  const p = place.value;
  const ids = p.kind === "sessions" ? p.ids.filter((s) => s !== id) : [];
  return ids.length === 0 ? "#/" : `#/s/${ids.join(",")}`;
}

export function go(hash: string): void {
  location.hash = hash;
}
