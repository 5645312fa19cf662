// Works with the terminal of a job by a client of OpenCode's JavaScript SDK.
// Arguments: the SDK's directory, "v1" or "v2", the server's address, a directory.
import { pathToFileURL } from "node:url"
import assert from "node:assert/strict"

const [sdk, version, baseUrl, directory] = process.argv.slice(2)
const { createOpencodeClient } = await import(pathToFileURL(`${sdk}/dist/${version === "v1" ? "" : "v2/"}client.js`))
const { pty } = createOpencodeClient({ baseUrl, directory })
const good = ({ data, error, response }) => {
  assert.equal(error, undefined, `${response?.url}: ${JSON.stringify(error)}`)
  return data
}
const on = (id, body) => (version === "v1" ? { path: { id }, body } : { ptyID: id, ...body })

const [mine, ...others] = good(await pty.list())
assert.deepEqual([mine.id, mine.title, mine.status, others.length], ["pty_job_1", "Ask", "running", 0])
assert.deepEqual(good(await pty.get(on(mine.id))), mine)
assert.equal(good(await pty.update(on(mine.id, { title: "Mine", size: { rows: 33, cols: 101 } }))).title, "Mine")
if (globalThis.WebSocket) { // from node 22 on
  const ws = new WebSocket(`${baseUrl.replace("http", "ws")}/pty/${mine.id}/connect`)
  let all = ""
  await new Promise((resolve, reject) => {
    ws.onerror = reject
    ws.onopen = () => ws.send("hello\r")
    ws.onmessage = ({ data }) => {
      if (typeof data === "string") all += data
      if (all.includes("got hello")) resolve()
    }
  })
  assert.ok(all.includes("33 101"), all)
  ws.close()
}
assert.equal(good(await pty.remove(on(mine.id))), true)
assert.deepEqual(good(await pty.list()), [])
assert.equal((await pty.get(on(mine.id))).response.status, 404)

console.log("ok")
process.exit(0)
