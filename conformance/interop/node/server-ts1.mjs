// A server on @modelcontextprotocol/sdk 1.x: `stdio`, `http`, `sse`, or `oauth` for one on HTTP that wants a token.
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitResultSchema, SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { serveHttp, serveSse } from "./http.mjs";
import { serveProtected } from "./oauth-server.mjs";
import { contents } from "./samples.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });
const memos = { one: "first memo", two: "second memo" };
const names = ["Alice", "Alan", "Bob"];
let cancelled = 0;

function newServer() {
  const server = new McpServer(
    { name: "interop-server-ts1", version: "1.0.0" },
    {
      capabilities: {
        logging: {},
        resources: { subscribe: true, listChanged: true },
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
      taskStore: new InMemoryTaskStore(),
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  const low = server.server;
  const subscribed = new Set();

  server.registerTool(
    "echo",
    { description: "Says the text back", inputSchema: { text: z.string() } },
    ({ text }) => say(text),
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => ({ ...say(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );
  server.registerTool("contents", { description: "Gives one of each kind of content" }, () => ({ content: contents }));
  server.registerTool("fail", { description: "Always fails" }, () => {
    throw new Error("this tool always fails");
  });
  server.registerTool(
    "progress",
    { description: "Reports progress", inputSchema: { count: z.number().int().min(1).max(100) } },
    async ({ count }, { _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken;
      for (let progress = 1; progressToken !== undefined && progress <= count; progress += 1) {
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total: count },
        });
      }
      return say("done");
    },
  );
  server.registerTool("ask", { description: "Asks the user for a name" }, async ({ requestId }) => {
    if (!low.getClientCapabilities()?.elicitation) return say("client cannot be asked");
    const { action, content } = await low.elicitInput(
      {
        message: "What is your name?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
      { relatedRequestId: requestId },
    );
    return say(action === "accept" ? `Hello, ${content.name}!` : `no answer: ${action}`);
  });
  server.registerTool(
    "sample",
    { description: "Asks the client's model", inputSchema: { prompt: z.string() } },
    async ({ prompt }, { requestId }) => {
      if (!low.getClientCapabilities()?.sampling) return say("client cannot sample");
      const { content } = await low.createMessage(
        { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 50 },
        { relatedRequestId: requestId },
      );
      return say(content.text);
    },
  );
  server.registerTool("roots", { description: "Lists the client's roots" }, async ({ requestId }) => {
    if (!low.getClientCapabilities()?.roots) return say("client has no roots");
    const { roots } = await low.listRoots(undefined, { relatedRequestId: requestId });
    return say(roots.map(({ uri }) => uri).join("\n"));
  });
  server.registerTool(
    "log",
    { description: "Logs a message", inputSchema: { level: z.string(), message: z.string() } },
    async ({ level, message }, { sessionId }) => {
      await server.sendLoggingMessage({ level, logger: "interop", data: message }, sessionId);
      return say("logged");
    },
  );
  server.registerTool("slow", { description: "Waits to be cancelled" }, async ({ signal, _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    }
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 30_000);
      signal.addEventListener("abort", () => {
        cancelled += 1;
        clearTimeout(timer);
        resolve();
      });
    });
    return say("done");
  });
  server.registerTool("cancelled", { description: "Counts the cancelled calls of slow" }, () =>
    say(String(cancelled)),
  );
  server.registerTool(
    "touch",
    { description: "Says that a resource has changed", inputSchema: { uri: z.string() } },
    async ({ uri }) => {
      if (subscribed.has(uri)) await low.sendResourceUpdated({ uri });
      return say("touched");
    },
  );
  server.registerTool("grow", { description: "Adds the tool grown" }, () => {
    server.registerTool("grown", { description: "Was added at run time" }, () => say("grown"));
    return say("grown");
  });

  /** Registers a tool that runs as a task. */
  const taskTool = (name, description, taskSupport, run) =>
    server.experimental.tasks.registerToolTask(
      name,
      { description, execution: { taskSupport } },
      {
        createTask: async (extra) => {
          const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl, pollInterval: 50 });
          run(task.taskId, extra).then(
            (result) => extra.taskStore.storeTaskResult(task.taskId, "completed", result),
            // It was cancelled.
            () => {},
          ).catch(() => {});
          return { task };
        },
        getTask: ({ taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: ({ taskId, taskStore }) => taskStore.getTaskResult(taskId),
      },
    );
  taskTool("task_report", "Takes its time", "optional", async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return say("reported");
  });
  taskTool("task_ask", "Asks the person, in a task", "required", async (taskId, { sendRequest }) => {
    const { action, content } = await sendRequest(
      {
        method: "elicitation/create",
        params: {
          message: "What is your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        },
      },
      ElicitResultSchema,
      { relatedTask: { taskId } },
    );
    return say(action === "accept" ? `Hello, ${content.name}!` : `no answer: ${action}`);
  });
  taskTool("task_slow", "Waits for long", "optional", () => new Promise(() => {}));

  low.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  low.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });

  const memo = (uri, name) => {
    if (!(name in memos)) throw new Error(`no memo called ${name}`);
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: memos[name] }] };
  };
  server.registerResource("one", "memo://one", { mimeType: "text/plain" }, (uri) => memo(uri, "one"));
  server.registerResource(
    "memo",
    new ResourceTemplate("memo://{name}", { list: undefined }),
    { mimeType: "text/plain" },
    (uri, { name }) => memo(uri, name),
  );
  server.registerPrompt(
    "greet",
    {
      description: "Greets somebody",
      argsSchema: {
        name: completable(z.string(), (value) => names.filter((name) => name.startsWith(value))),
      },
    },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Please greet ${name}.` } }] }),
  );
  return server;
}

if (process.argv[2] === "http") serveHttp(newServer, StreamableHTTPServerTransport);
else if (process.argv[2] === "oauth") serveProtected(newServer, StreamableHTTPServerTransport);
else if (process.argv[2] === "sse") serveSse(newServer, SSEServerTransport);
else await newServer().connect(new StdioServerTransport());
