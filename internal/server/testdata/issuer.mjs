// An issuer made with oidc-provider. Whoever it is told of logs in at once and agrees to all; a
// line on standard input changes something: "as NAME GROUP…" who logs in, "keys" with what it
// signs. It says what it did.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { Provider } = await import(pathToFileURL(`${process.env.LATHE_ISSUER_NPM}/node_modules/oidc-provider/lib/index.js`).href);
const redirect = process.argv[2];
let who = { name: "ann", groups: ["staff"] };
let port = 0;
let provider;

const key = () => ({ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: randomUUID() });

const claims = (id) => {
  const [name, ...groups] = id.split(" ");
  return { sub: id, email: `${name}@example.com`, email_verified: name !== "mallory", groups };
};

function begin() {
  provider = new Provider(`http://127.0.0.1:${port}`, {
    jwks: { keys: [key()] },
    cookies: { keys: ["x"] },
    clients: ["lathe", "other"].map((id) => ({ client_id: id, redirect_uris: [redirect], response_types: ["code"], grant_types: ["authorization_code"], token_endpoint_auth_method: "none" })),
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    scopes: ["openid", "email", "groups"],
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => claims(id) }),
    interactions: { url: (_, i) => `/interaction/${i.uid}` },
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope("openid email groups");
      grant.addResourceScope("urn:lathe", "api");
      grant.addResourceScope("urn:other", "api");
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: (_, resource) => ({ scope: "api", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
        useGrantedResource: () => true,
      },
    },
    extraTokenClaims: (_, token) => claims(token.accountId),
  });
}

const server = createServer(async (req, res) => {
  if (req.url?.startsWith("/interaction/")) {
    await provider.interactionFinished(req, res, { login: { accountId: [who.name, ...who.groups].join(" ") } });
    return;
  }
  await provider.callback()(req, res);
});
server.listen(0, "127.0.0.1", () => {
  port = server.address().port;
  begin();
  console.log(`http://127.0.0.1:${port}`);
});
for await (const line of createInterface({ input: process.stdin })) {
  const [what, name, ...groups] = line.split(" ");
  if (what === "as") who = { name, groups };
  else begin();
  console.log("done");
}
process.exit(0);
