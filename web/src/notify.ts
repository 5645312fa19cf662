// Notifications of the browser, for a person who looks elsewhere.

import { effect, signal } from "@preact/signals";
import { t } from "./i18n";
import { go, toSession } from "./route";
import { asks, questions, sessions, statuses } from "./state";

export const notify = signal(false);

const key = "lathe.notify";

export async function wishToTell(wish: boolean): Promise<void> {
  if (wish && typeof Notification !== "undefined" && Notification.permission !== "granted") await Notification.requestPermission();
  notify.value = wish && typeof Notification !== "undefined" && Notification.permission === "granted";
  localStorage.setItem(key, String(notify.value));
}

function show(id: string, text: string): void {
  if (!notify.peek() || document.visibilityState === "visible") return;
  try {
    const n = new Notification(sessions.peek().get(id)?.title ?? "lathe", { body: text, tag: `lathe-${id}` });
    n.onclick = () => {
      window.focus();
      go(toSession(id));
      n.close();
    };
  } catch {
    // phones have no notifications of a page, only of what it installs
  }
}

/** Follows what runs and what waits; the title of the tab tells of it too. */
export function watch(): void {
  try {
    notify.value = localStorage.getItem(key) === "true" && typeof Notification !== "undefined" && Notification.permission === "granted";
  } catch {
    // the browser keeps nothing
  }
  let running = new Set<string>();
  effect(() => {
    const now = new Set(statuses.value.keys());
    for (const id of running) {
      if (!now.has(id) && sessions.peek().get(id)?.parentID === undefined) show(id, t("turnEnded"));
    }
    running = now;
  });
  let known = new Set<string>();
  effect(() => {
    const now = new Map([...asks.value, ...questions.value].map((a) => [a.id, a.sessionID]));
    for (const [id, session] of now) if (!known.has(id)) show(session, t("waiting"));
    known = new Set(now.keys());
    document.title = now.size > 0 ? `(${now.size}) lathe` : statuses.value.size > 0 ? "… lathe" : "lathe";
  });
}
