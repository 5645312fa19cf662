// States of servers in words.

import { t } from "./i18n";
import type { Words } from "./i18n/en";

const words: Record<string, keyof Words> = {
  waiting: "stateWaiting",
  starting: "stateStarting",
  connected: "stateConnected",
  failed: "stateFailed",
  disabled: "off",
  needs_auth: "stateNeedsLogin",
  needs_client_registration: "stateNeedsClient",
};

/** Says how far a server has come; one that a newer server tells is shown as it is. */
export function stateWords(state: string): string {
  const key = Object.hasOwn(words, state) ? words[state] : undefined;
  return key ? t(key) : state.replaceAll("_", " ");
}
