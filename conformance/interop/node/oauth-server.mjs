// The HTTP side of the protected TypeScript 1.x server: the SDK's bundled authorization router, its check
// of bearer tokens, and what the SDK leaves to its user, in memory. Nobody is asked: who comes is let in.
import { createHash, randomUUID } from "node:crypto";
import { InvalidGrantError, InvalidScopeError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import express from "express";
import { sessions } from "./http.mjs";

const USE = "mcp:use";
const ADMIN = "mcp:admin";
const LIFE = 3600;

/** Gives codes and tokens, and remembers them. */
class Authority {
  #clients = new Map();
  #codes = new Map();
  #access = new Map();
  #refresh = new Map();
  logins = 0;
  renewals = 0;

  constructor(resource) {
    this.resource = resource;
  }

  clientsStore = {
    getClient: (id) => this.#clients.get(id),
    registerClient: (client) => {
      this.#clients.set(client.client_id, client);
      return client;
    },
  };

  async authorize(client, { state, scopes = [], codeChallenge, redirectUri, resource }, response) {
    if (!scopes.every((scope) => [USE, ADMIN].includes(scope))) throw new InvalidScopeError("no such scope");
    const code = randomUUID();
    this.#codes.set(code, { client: client.client_id, scopes, codeChallenge, redirectUri, resource: resource?.href });
    const target = new URL(redirectUri);
    target.searchParams.set("code", code);
    if (state !== undefined) target.searchParams.set("state", state);
    response.redirect(target.href);
  }

  async challengeForAuthorizationCode(client, code) {
    const grant = this.#codes.get(code);
    if (grant?.client !== client.client_id) throw new InvalidGrantError("no such code");
    return grant.codeChallenge;
  }

  async exchangeAuthorizationCode(client, code, _verifier, redirectUri, resource) {
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const same = grant?.client === client.client_id && grant.redirectUri === redirectUri;
    if (!same) throw new InvalidGrantError("no such code");
    if (resource?.href !== grant.resource) throw new InvalidGrantError("the code is for another resource");
    this.logins += 1;
    return this.#issue(client, grant);
  }

  async exchangeRefreshToken(client, token, scopes, resource) {
    const grant = this.#refresh.get(token);
    // Each is good once.
    this.#refresh.delete(token);
    if (grant?.client !== client.client_id) throw new InvalidGrantError("no such token");
    if (resource !== undefined && resource.href !== grant.resource) throw new InvalidGrantError("another resource");
    if (scopes?.some((scope) => !grant.scopes.includes(scope))) throw new InvalidScopeError("not granted");
    this.renewals += 1;
    return this.#issue(client, grant);
  }

  #issue(client, { scopes, resource }) {
    const grant = { client: client.client_id, scopes, resource };
    const [access, refresh] = [randomUUID(), randomUUID()];
    this.#access.set(access, grant);
    this.#refresh.set(refresh, grant);
    return {
      access_token: access,
      token_type: "bearer",
      expires_in: LIFE,
      refresh_token: refresh,
      scope: scopes.join(" "),
    };
  }

  async verifyAccessToken(token) {
    const grant = this.#access.get(token);
    if (grant === undefined) throw new InvalidTokenError("no such token");
    return {
      token,
      clientId: grant.client,
      scopes: grant.scopes,
      expiresAt: Math.floor(Date.now() / 1000) + LIFE,
      resource: grant.resource && new URL(grant.resource),
      extra: { id: createHash("sha256").update(token).digest("hex").slice(0, 8) },
    };
  }

  async revokeToken(_client, { token }) {
    this.#access.delete(token);
    this.#refresh.delete(token);
  }

  /** Forgets the access tokens, as if their time had come. */
  expire() {
    this.#access.clear();
  }
}

/** Adds the tools that show what tokens say. */
function addTools(server, authority) {
  const say = (text) => ({ content: [{ type: "text", text }] });
  server.registerTool("whoami", { description: "Says what the token says" }, ({ authInfo }) =>
    say(
      JSON.stringify({
        client: authInfo.clientId,
        scopes: authInfo.scopes,
        resource: authInfo.resource?.href,
        logins: authority.logins,
        renewals: authority.renewals,
      }),
    ),
  );
  server.registerTool("restricted", { description: "Needs a scope of its own" }, () => say("allowed"));
  server.registerTool("expire", { description: "Forgets the access tokens" }, () => {
    authority.expire();
    return say("expired");
  });
  return server;
}

/** Serves `newServer()` over Streamable HTTP for who has a token. */
export function serveProtected(newServer, Transport) {
  const app = express();
  const http = app.listen(0, "127.0.0.1", (error) => {
    if (error) throw error;
    const origin = `http://127.0.0.1:${http.address().port}`;
    const resource = new URL("/mcp", origin);
    const authority = new Authority(resource);
    app.use(
      mcpAuthRouter({
        provider: authority,
        issuerUrl: new URL(origin),
        resourceServerUrl: resource,
        scopesSupported: [USE, ADMIN],
      }),
    );
    const need = (...requiredScopes) =>
      requireBearerAuth({
        verifier: authority,
        requiredScopes,
        resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
        expectedResource: resource,
      });
    const [anybody, admin] = [need(USE), need(USE, ADMIN)];
    const restricted = (body) => body?.method === "tools/call" && body.params?.name === "restricted";
    const answer = sessions(() => addTools(newServer(), authority), Transport);
    app.all(
      "/mcp",
      express.json({ limit: "4mb" }),
      (request, response, next) => (restricted(request.body) ? admin : anybody)(request, response, next),
      (request, response) => answer(request, response, request.body),
    );
    console.error(`listening on ${resource.href}`);
  });
}
