// Texts in the language that the person reads.

import { computed } from "@preact/signals";
import { language } from "../state";
import { en, type Words } from "./en";
import { zh } from "./zh-CN";

/** The languages there are, by the tags that browsers use. */
export const languages: Record<string, { name: string; words: Words }> = {
  en: { name: "English", words: en },
  "zh-CN": { name: "简体中文", words: zh },
};

/** The tag of the language that is shown: the one that was chosen, else the browser's first that is there. */
export const tag = computed(() => {
  if (language.value in languages) return language.value;
  for (const wish of typeof navigator === "undefined" ? [] : navigator.languages) {
    const found = Object.keys(languages).find((l) => l.split("-")[0] === wish.split("-")[0]);
    if (found !== undefined) return found;
  }
  return "en";
});

export function t(name: keyof Words, values: Record<string, string | number> = {}): string {
  const text = (languages[tag.value] ?? { words: en }).words[name];
  return text.replace(/\{(\w+)\}/g, (all, key: string) => String(values[key] ?? all));
}

export function number(n: number): string {
  return new Intl.NumberFormat(tag.value, { notation: n >= 10_000 ? "compact" : "standard", maximumFractionDigits: 1 }).format(n);
}

export function money(usd: number): string {
  return new Intl.NumberFormat(tag.value, { style: "currency", currency: "USD", maximumFractionDigits: usd !== 0 && usd < 1 ? 4 : 2 }).format(usd);
}

/** How long ago a time was, or its date. */
export function ago(ms: number): string {
  const s = (Date.now() - ms) / 1000;
  const f = new Intl.RelativeTimeFormat(tag.value, { numeric: "auto", style: "narrow" });
  if (s < 60) return f.format(0, "minute");
  if (s < 3600) return f.format(-Math.floor(s / 60), "minute");
  if (s < 86_400) return f.format(-Math.floor(s / 3600), "hour");
  if (s < 7 * 86_400) return f.format(-Math.floor(s / 86_400), "day");
  return new Intl.DateTimeFormat(tag.value, { dateStyle: "medium" }).format(ms);
}

export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
