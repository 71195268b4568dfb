// The certified OpenID provider (panva/node-oidc-provider) with one client and accounts of its own, for the tests of
// sign-in. Arguments: port, client id, client secret, redirect URI. POST /-rotate gives it another signing key.
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";

const [port, clientId, clientSecret, redirect] = process.argv.slice(2);
const ACCOUNTS = {
  ada: { email: "Ada@example.org", email_verified: true, groups: ["evaluation", "everyone"] },
  eve: { email: "ada@example.org", email_verified: false, groups: [] },
  bob: { email: "bob@example.org", email_verified: true, groups: [] },
};
let keys = 0;
const key = () => ({ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: `key-${++keys}` });
const make = () => new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirect] }],
  jwks: { keys: [key()] },
  cookies: { keys: ["only for tests"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
  scopes: ["openid", "email", "groups"],
  pkce: { required: () => true },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...ACCOUNTS[id] }) }),
});
let provider = make(), answer = provider.callback();
createServer((request, response) => {
  if (request.url !== "/-rotate") return answer(request, response);
  provider = make();
  answer = provider.callback();
  response.end("rotated");
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
