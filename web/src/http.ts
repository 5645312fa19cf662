// Calls of the interface. Addresses are relative to the page, so that the page works
// behind a proxy that adds a prefix to the path.

/** What a call that was refused says. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retry = 0,
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | undefined>;

/** Called when the server asks for its password. */
let shut: () => void = () => undefined;

export function whenShut(f: () => void): void {
  shut = f;
}

export function address(path: string, query: Query = {}): string {
  const url = new URL(path.replace(/^\//, ""), document.baseURI);
  url.hash = "";
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

interface Options {
  method?: string;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Makes a call and returns its answer; throws {@link Refused} where it is refused. */
export async function request(path: string, query: Query = {}, o: Options = {}): Promise<Response> {
  const init: RequestInit = {
    method: o.method ?? "GET",
    headers: { "X-Lathe-Page": "1", ...(o.body === undefined ? {} : { "Content-Type": "application/json" }), ...o.headers },
    credentials: "same-origin",
    cache: "no-store",
    referrerPolicy: "no-referrer",
  };
  if (o.body !== undefined) init.body = JSON.stringify(o.body);
  if (o.signal) init.signal = o.signal;
  const res = await fetch(address(path, query), init);
  if (res.ok) return res;
  if (res.status === 401 && !path.endsWith("/login")) shut();
  throw new Refused(res.status, wording(await res.text(), res.statusText), Number(res.headers.get("Retry-After") ?? 0));
}

/** Finds what an error's body says to a person, in any of the shapes of the interface. */
export function wording(body: string, otherwise: string): string {
  try {
    const e = JSON.parse(body) as { message?: unknown; data?: { message?: unknown; hint?: unknown } };
    for (const text of [e.data?.message, e.message]) {
      if (typeof text === "string" && text !== "") return text;
    }
  } catch {
    // it is plain text
  }
  return body.trim().slice(0, 500) || otherwise;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const res = await request(path, query, signal ? { signal } : {});
  return (await res.json()) as T;
}

export async function send<T>(method: "POST" | "PATCH" | "PUT" | "DELETE", path: string, body?: unknown, query: Query = {}): Promise<T> {
  const res = await request(path, query, { method, ...(body === undefined ? {} : { body }) });
  const text = await res.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}
