// The OAuth side of the JavaScript clients: what a host keeps of a login, a person who allows everything,
// and the checks of a protected server. Both generations of the TypeScript SDK ask the host for the same.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

/** One login of one client; nothing outlives the process. */
export class Login {
  // Nobody listens there: the person below reads where the browser would be sent.
  redirectUrl = "http://127.0.0.1:1/callback";
  clientMetadata = {
    client_name: "interop",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  registrations = 0;
  visits = 0;
  renewals = 0;
  /** Keeps the refresh token from the SDK. */
  hidesRefresh = false;
  #state;
  #client;
  #tokens;
  #verifier;
  #discovered;
  #answer;

  state() {
    this.#state = randomUUID();
    return this.#state;
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client) {
    if (this.#client === undefined) this.registrations += 1;
    this.#client = client;
  }
  tokens() {
    if (!this.#tokens || !this.hidesRefresh) return this.#tokens;
    const { refresh_token: _hidden, ...shown } = this.#tokens;
    return shown;
  }
  saveTokens(tokens) {
    if (this.#answer === undefined) this.renewals += 1;
    this.#answer = undefined;
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  saveDiscoveryState(discovered) {
    this.#discovered = discovered;
  }
  discoveryState() {
    return this.#discovered;
  }

  /** The browser step, by plain HTTP: opens the page, and presses its button if there is one. */
  async redirectToAuthorization(url) {
    this.visits += 1;
    let answer = await fetch(url, { redirect: "manual" });
    if (answer.status === 200) {
      assert.match(await answer.text(), /<form method="post">/);
      const headers = { origin: url.origin, "content-type": "application/x-www-form-urlencoded" };
      answer = await fetch(url, { method: "POST", redirect: "manual", headers, body: "" });
    }
    assert.equal(answer.status, 302, `the page answered ${answer.status}`);
    const target = new URL(answer.headers.get("location"));
    assert.equal(target.origin + target.pathname, this.redirectUrl);
    assert.equal(target.searchParams.get("state"), this.#state);
    assert.equal(target.searchParams.get("error"), null);
    this.#answer = target.searchParams;
  }

  /** What the last visit brought. */
  get answer() {
    assert.ok(this.#answer, "nobody was asked");
    return this.#answer;
  }

  /** Makes the access token one that the server doesn't know. */
  spoil() {
    this.#tokens = { ...this.#tokens, access_token: "spoiled" };
  }
}

/** Connects `client` by a transport that `open` makes; logs in on the way if the server asks for it. */
export async function connect(client, open, { login, Unauthorized, finish }) {
  const first = open();
  try {
    await client.connect(first);
    return first;
  } catch (error) {
    if (!login || !(error instanceof Unauthorized)) throw error;
  }
  await finish(first, login.answer);
  const second = open();
  await client.connect(second);
  return second;
}

/** The checks of our protected server; the tools are described in conformance/src/everything/protected.rs. */
export async function authorization({ check, call }, url, transport, { login, Unauthorized, finish, hides }) {
  const whoami = async () => JSON.parse((await call("whoami", {})).content[0].text);
  await check("authorization refused", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const answer = await fetch(url, { method: "POST", headers, body });
    assert.equal(answer.status, 401);
    const challenge = answer.headers.get("www-authenticate");
    const document = await fetch(challenge.match(/^Bearer .*resource_metadata="([^"]+)"/)[1]);
    assert.equal((await document.json()).resource, url.href);
  });
  await check("authorization login", async () => {
    const { client, scopes } = await whoami();
    assert.equal(client, login.clientInformation().client_id);
    assert.deepEqual(scopes, ["mcp:use"]);
    assert.deepEqual([login.registrations, login.visits, login.renewals], [1, 1, 0]);
  });
  await check("authorization renewal", async () => {
    login.spoil();
    assert.deepEqual((await whoami()).scopes, ["mcp:use"]);
    assert.deepEqual([login.visits, login.renewals], [1, 1]);
  });
  await check("authorization step-up", async () => {
    login.hidesRefresh = hides;
    // The SDK gives up the call when a person has to be asked, and leaves the rest to its user.
    await assert.rejects(call("restricted", {}), Unauthorized);
    await finish(transport, login.answer);
    login.hidesRefresh = false;
    assert.equal((await call("restricted", {})).content[0].text, "allowed");
    assert.deepEqual((await whoami()).scopes.sort(), ["mcp:admin", "mcp:use"]);
    assert.equal(login.visits, 2);
  });
}
