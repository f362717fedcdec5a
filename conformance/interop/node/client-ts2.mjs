// A client on @modelcontextprotocol/client 2.x. It starts with the handshake or, with --auto, by
// asking whether the server knows a revision without one.
import { Client, SSEClientTransport, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as z from "zod";
import { Inbox, parseArguments, runChecks } from "./checks.mjs";
import { Login, authorization, connect } from "./oauth.mjs";

const options = parseArguments(process.argv.slice(2));
const inbox = new Inbox();
const answers = { roots: [] };

const client = new Client(
  { name: "interop-ts2", version: "1.0.0" },
  {
    capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } },
    versionNegotiation: { mode: options.auto ? "auto" : "legacy" },
  },
);
client.setRequestHandler("sampling/createMessage", ({ params }) => answers.sample(params));
client.setRequestHandler("elicitation/create", ({ params }) => answers.elicit(params));
client.setRequestHandler("roots/list", () => ({ roots: answers.roots }));
// The SDK's own progress callback misses what arrives in one chunk with the response.
client.setNotificationHandler("notifications/progress", ({ method, params }) => inbox.push(method, params));
client.fallbackNotificationHandler = async ({ method, params }) => inbox.push(method, params);

const oauth = {
  login: options.oauth && new Login(),
  Unauthorized: UnauthorizedError,
  finish: (transport, answer) => transport.finishAuth(answer),
  hides: false,
};
const open = () =>
  options.http
    ? new StreamableHTTPClientTransport(options.http, { authProvider: oauth.login })
    : options.sse
      ? new SSEClientTransport(options.sse)
      : new StdioClientTransport({ ...options.stdio, stderr: "inherit" });
const transport = await connect(client, open, oauth);

// Called with parameters, even empty ones, a list method returns one page.
const page = (cursor) => (cursor === undefined ? {} : { cursor });
const lists = {
  tools: (cursor) => client.listTools(page(cursor)),
  resources: (cursor) => client.listResources(page(cursor)),
  resourceTemplates: (cursor) => client.listResourceTemplates(page(cursor)),
  prompts: (cursor) => client.listPrompts(page(cursor)),
};

const failures = await runChecks(
  {
    revision: client.getNegotiatedProtocolVersion(),
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    inbox,
    answers,
    ping: () => client.ping(),
    list: (kind, cursor) => lists[kind](cursor),
    callTool: (params, extra) => client.callTool(params, extra),
    // The 2.x client turns the -32002 that comes in into the newer code.
    notFoundCode: -32602,
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (params) => client.getPrompt(params),
    complete: (params) => client.complete(params),
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    raw: (method, params) => client.request({ method, params }, z.looseObject({})),
  },
  options,
  options.oauth && ((checks) => authorization(checks, options.http, transport, oauth)),
);
if (options.http) await transport.terminateSession();
await client.close();
process.exitCode = failures === 0 ? 0 : 1;
