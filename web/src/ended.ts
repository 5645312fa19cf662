// How a call ended that did not succeed, for people: what the engine writes of it is for
// the model.

import type { ToolState } from "./wire";

const rejected = "The user rejected permission to use this specific tool call";
const feedback = rejected + " with the following feedback: ";
const told = new Set(["[Tool execution was interrupted]", "Tool execution aborted"]);

export interface Ending {
  /** The name of the word for it, in i18n. */
  word: "refused" | "interrupted" | "notStarted" | "failed";
  /** What there is to say beside the word; often nothing. */
  why: string;
}

/** Says how a call failed, in a word and with what is worth reading beside it. */
export function ended(s: Extract<ToolState, { status: "error" }>): Ending {
  if (s.error.startsWith(feedback)) return { word: "refused", why: s.error.slice(feedback.length) };
  if (s.error === rejected + "." || s.error === "The user dismissed this question") return { word: "refused", why: "" };
  if (s.error.startsWith("Not started, nothing changed: ")) return { word: "notStarted", why: "" };
  if (told.has(s.error)) return { word: "interrupted", why: "" };
  return { word: s.metadata?.["interrupted"] === true ? "interrupted" : "failed", why: s.error };
}
