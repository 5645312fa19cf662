// Prompts that arrive once. A server that is killed, or a proxy that loses it, leaves open
// whether a prompt was accepted; sent again under the same name it is not accepted twice.

import { Refused, send } from "./http";

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** How long, in milliseconds, a prompt is sent again while no server takes it. */
const patience = 15_000;

/** Names a message as the server does: by the time, and fourteen random characters. */
export function messageName(now = Date.now()): string {
  const time = BigInt.asUintN(48, BigInt(now) * 4096n).toString(16).padStart(12, "0");
  const random = crypto.getRandomValues(new Uint32Array(14));
  return `msg_${time}${[...random].map((n) => letters[n % letters.length]).join("")}`;
}

/** Reports whether a call may succeed when it is made again: nobody, or only a proxy, answered. */
export function passing(err: unknown): boolean {
  return !(err instanceof Refused) || [502, 503, 504].includes(err.status);
}

/** The prompts whose fate is not known, by session: the same words are sent under the same name. */
const unsure = new Map<string, { words: string; name: string }>();

/** Sends a prompt until a server has it, or none takes it for a while. */
export async function deliver(session: string, body: object, pause = (ms: number) => new Promise((done) => setTimeout(done, ms))): Promise<unknown> {
  const words = JSON.stringify(body);
  const last = unsure.get(session);
  const name = last?.words === words ? last.name : messageName();
  const until = Date.now() + patience;
  for (let wait = 250; ; wait = Math.min(2 * wait, 4_000)) {
    try {
      const done = await send("POST", `/lathe/session/${session}/prompt`, { messageID: name, ...body });
      unsure.delete(session);
      return done;
    } catch (err) {
      if (!passing(err)) {
        unsure.delete(session);
        throw err;
      }
      unsure.set(session, { words, name });
      if (Date.now() + wait > until) throw err;
      await pause(wait);
    }
  }
}
