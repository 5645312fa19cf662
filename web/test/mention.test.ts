import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { document: { baseURI: "http://localhost/" } });
const { mentions, resources, symbols } = await import("../src/mention");

const at = (uri: string, from: number, to: number) => ({ name: "parse", kind: 12, location: { uri, range: { start: { line: from }, end: { line: to } } } });

test("a name in the code is sent as the lines where it stands", () => {
  assert.deepEqual(symbols([at("file:///w/src/a%20b.go", 1, 2), at("jdt://x", 1, 2), at("file:///w/src/%E6%96%87.go", 4, 9), at("file:///other/c.go", 11, 11)], "/w"), [
    { insert: "@src/文.go#5-10 ", label: "parse", about: "src/文.go:5" },
    { insert: "@/other/c.go#12-51 ", label: "parse", about: "/other/c.go:12" },
  ]);
});

test("a resource is found by its server, address and name, unless it could not be named", () => {
  const list = [{ client: "docs", uri: "docs://page", name: "Page" }, { client: "my notes", uri: "n://1", name: "page" }];
  assert.deepEqual(resources(list, "PAGE"), [{ insert: "@docs:docs://page ", label: "docs:docs://page", about: "Page" }]);
  assert.deepEqual(resources(list, "none"), []);
});

test("what cannot be asked for is left out", async () => {
  globalThis.fetch = (url) => Promise.resolve((url as string).includes("/lathe/file") ? Response.json(["main.go", "sub/"]) : new Response("", { status: 500 }));
  assert.deepEqual((await mentions("ma", "/w", [{ name: "maker", mode: "subagent" }, { name: "main", mode: "primary" }])).map((c) => c.insert), ["@maker ", "@main.go ", "@sub/"]);
});
