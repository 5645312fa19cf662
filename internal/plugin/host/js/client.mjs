// The client that plugins are given: OpenCode's SDK, whose requests go through the pipe
// to this directory's lathe and nowhere else.
import { shared } from "./runtime.mjs"

let waiters = []
let number = 1

// asked resolves when a plugin sends lathe a request that has to wait.
export const settled = {
  asked: () => new Promise((resolve) => waiters.push(() => resolve("asked"))),
}

export async function client(peer, params) {
  const fetch = serverFetch(peer)
  adopt(params.serverUrl, fetch)
  try {
    const { createOpencodeClient } = await shared("@opencode-ai/sdk")
    return createOpencodeClient({ baseUrl: params.serverUrl, directory: params.directory, fetch })
  } catch (err) {
    return missing(`OpenCode's SDK is not installed: ${err.message}`)
  }
}

// missing is a client that says what is wrong with each call.
function missing(why) {
  const refuse = () => Promise.reject(new Error(why))
  return new Proxy(refuse, { get: (_, name) => (name === "then" ? undefined : missing(why)) })
}

// adopt sends what goes to lathe's own address through the pipe, too: it is no address
// that anything listens on.
function adopt(address, through) {
  const origin = new URL(address).origin
  const direct = globalThis.fetch
  if (direct.lathe) return
  const fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    return url.startsWith(origin + "/") || url === origin ? through(new Request(input, init)) : direct(input, init)
  }
  fetch.lathe = true
  globalThis.fetch = Object.assign(fetch, direct)
}

// serverFetch returns a fetch whose requests lathe answers.
export function serverFetch(peer) {
  return async (input, init) => {
    const request = input instanceof Request && !init ? input : new Request(input, init)
    const url = new URL(request.url)
    const stream = "c" + number++
    let controller
    const body = new ReadableStream({
      start: (c) => void (controller = c),
      cancel: () => peer.notify("hangup", { stream }),
    })
    let over = false
    peer.onStream(stream, (piece, why) => {
      if (over) return
      if (piece) return controller.enqueue(new Uint8Array(piece))
      over = true
      if (why) controller.error(new Error(why))
      else controller.close()
    })
    request.signal?.throwIfAborted()
    const aborted = new Promise((_, fail) => {
      request.signal?.addEventListener("abort", () => {
        peer.notify("hangup", { stream })
        fail(request.signal.reason)
        if (!over) controller.error(request.signal.reason)
        over = true
      })
    })
    aborted.catch(() => {}) // who waits is told
    if (url.pathname !== "/log") for (const wake of waiters.splice(0)) wake()
    const asked = peer.request("request", {
      stream,
      method: request.method,
      path: url.pathname + url.search,
      headers: Object.fromEntries(request.headers),
      body: request.body ? await request.text() : "",
    })
    asked.catch(() => {}) // nobody waits for it after an abort
    const answer = await Promise.race([asked, aborted])
    const empty = [101, 204, 205, 304].includes(answer.status)
    return new Response(empty ? null : body, { status: answer.status, headers: answer.headers })
  }
}
