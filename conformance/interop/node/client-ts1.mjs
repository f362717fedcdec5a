// A client on @modelcontextprotocol/sdk 1.x.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ProgressNotificationSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { Inbox, parseArguments, runChecks } from "./checks.mjs";
import { Login, authorization, connect } from "./oauth.mjs";

const options = parseArguments(process.argv.slice(2));
const inbox = new Inbox();
const answers = { roots: [] };

const taskStore = new InMemoryTaskStore();
const client = new Client(
  { name: "interop-ts1", version: "1.0.0" },
  {
    capabilities: {
      sampling: {},
      elicitation: { form: {} },
      roots: { listChanged: true },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} } } },
    },
    // Without a queue of messages: with one, this SDK keeps its answers to questions of the server's tasks.
    taskStore,
  },
);
client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { taskStore }) => {
  if (!params.task) return answers.sample(params);
  const task = await taskStore.createTask({ ttl: params.task.ttl, pollInterval: 50 });
  setTimeout(async () => {
    await taskStore.storeTaskResult(task.taskId, "completed", await answers.sample(params));
  }, 100);
  return { task };
});
client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers.elicit(params));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: answers.roots }));
// The SDK's own progress callback misses what arrives in one chunk with the response.
client.setNotificationHandler(ProgressNotificationSchema, ({ method, params }) => inbox.push(method, params));
client.fallbackNotificationHandler = async ({ method, params }) => inbox.push(method, params);

const oauth = {
  login: options.oauth && new Login(),
  Unauthorized: UnauthorizedError,
  finish: (transport, answer) => transport.finishAuth(answer.get("code")),
  // With a refresh token at hand, this SDK renews where it should ask for a scope more, and fails.
  hides: true,
};
// The client tells its transport what was negotiated; stdio has no use for it, so listen in.
let revision;
function open() {
  const transport = options.http
    ? new StreamableHTTPClientTransport(options.http, { authProvider: oauth.login })
    : options.sse
      ? new SSEClientTransport(options.sse)
      : new StdioClientTransport({ ...options.stdio, stderr: "inherit" });
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  return transport;
}
const transport = await connect(client, open, oauth);

const lists = {
  tools: (cursor) => client.listTools({ cursor }),
  resources: (cursor) => client.listResources({ cursor }),
  resourceTemplates: (cursor) => client.listResourceTemplates({ cursor }),
  prompts: (cursor) => client.listPrompts({ cursor }),
};

const failures = await runChecks(
  {
    revision,
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    inbox,
    answers,
    ping: () => client.ping(),
    list: (kind, cursor) => lists[kind](cursor),
    callTool: (params, extra) => client.callTool(params, undefined, extra),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (params) => client.getPrompt(params),
    complete: (params) => client.complete(params),
    setLevel: (level) => client.setLoggingLevel(level),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    tasks: {
      call: (params, options) => client.experimental.tasks.callToolStream(params, undefined, options),
      get: (id) => client.experimental.tasks.getTask(id),
      list: () => client.experimental.tasks.listTasks(),
      cancel: (id) => client.experimental.tasks.cancelTask(id),
    },
    raw: (method, params) => client.request({ method, params }, ResultSchema),
  },
  options,
  options.oauth && ((checks) => authorization(checks, options.http, transport, oauth)),
);
if (options.http) await transport.terminateSession();
await client.close();
// Its timers would keep the process until the last task has expired.
taskStore.cleanup();
process.exitCode = failures === 0 ? 0 : 1;
