// Taking back what a session did.

import { send } from "./http";
import { t } from "./i18n";
import { attempt, tell } from "./state";
import { base } from "./text";

interface Reverted {
  kept?: { path: string; reason: string }[];
  unrecorded?: string;
}

function told(out: Reverted | undefined): boolean {
  for (const k of out?.kept ?? []) tell(t("kept", { file: base(k.path), why: k.reason }), true);
  if (out?.unrecorded) tell(out.unrecorded, true);
  return out !== undefined;
}

/** Undoes the files and messages from a message on, and tells what was left as it is. */
export async function revert(id: string, message: string, force = false): Promise<boolean> {
  return told(await attempt(send<Reverted>("POST", `/lathe/session/${id}/revert`, { messageID: message, ...(force ? { force } : {}) })));
}

/** Brings back what was undone last. */
export async function unrevert(id: string): Promise<boolean> {
  return told(await attempt(send<Reverted>("POST", `/lathe/session/${id}/unrevert`, {})));
}
