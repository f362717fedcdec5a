// A server on @modelcontextprotocol/server 2.x: `stdio` or `http`.
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer, ResourceTemplate, completable } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
import { serveHttp } from "./http.mjs";
import { contents } from "./samples.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });
const memos = { one: "first memo", two: "second memo" };
const names = ["Alice", "Alan", "Bob"];
let cancelled = 0;

function newServer() {
  const server = new McpServer(
    { name: "interop-server-ts2", version: "1.0.0" },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  const low = server.server;
  const subscribed = new Set();

  const progress = (ctx, params) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...params } });
  };

  server.registerTool(
    "echo",
    { description: "Says the text back", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => say(text),
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...say(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );
  server.registerTool("contents", { description: "Gives one of each kind of content" }, () => ({ content: contents }));
  server.registerTool("fail", { description: "Always fails" }, () => {
    throw new Error("this tool always fails");
  });
  server.registerTool(
    "progress",
    { description: "Reports progress", inputSchema: z.object({ count: z.number().int().min(1).max(100) }) },
    async ({ count }, ctx) => {
      for (let step = 1; step <= count; step += 1) await progress(ctx, { progress: step, total: count });
      return say("done");
    },
  );
  server.registerTool("ask", { description: "Asks the user for a name" }, async (ctx) => {
    if (!low.getClientCapabilities()?.elicitation) return say("client cannot be asked");
    const { action, content } = await ctx.mcpReq.elicitInput({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return say(action === "accept" ? `Hello, ${content.name}!` : `no answer: ${action}`);
  });
  server.registerTool(
    "sample",
    { description: "Asks the client's model", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      if (!low.getClientCapabilities()?.sampling) return say("client cannot sample");
      const { content } = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 50,
      });
      return say(content.text);
    },
  );
  server.registerTool("roots", { description: "Lists the client's roots" }, async (ctx) => {
    if (!low.getClientCapabilities()?.roots) return say("client has no roots");
    const { roots } = await ctx.mcpReq.send({ method: "roots/list" });
    return say(roots.map(({ uri }) => uri).join("\n"));
  });
  server.registerTool(
    "log",
    { description: "Logs a message", inputSchema: z.object({ level: z.string(), message: z.string() }) },
    async ({ level, message }, ctx) => {
      await ctx.mcpReq.log(level, message, "interop");
      return say("logged");
    },
  );
  server.registerTool("slow", { description: "Waits to be cancelled" }, async (ctx) => {
    await progress(ctx, { progress: 1 });
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 30_000);
      ctx.mcpReq.signal.addEventListener("abort", () => {
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
    { description: "Says that a resource has changed", inputSchema: z.object({ uri: z.string() }) },
    async ({ uri }) => {
      if (subscribed.has(uri)) await low.sendResourceUpdated({ uri });
      return say("touched");
    },
  );
  server.registerTool("grow", { description: "Adds the tool grown" }, () => {
    server.registerTool("grown", { description: "Was added at run time" }, () => say("grown"));
    return say("grown");
  });

  low.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  low.setRequestHandler("resources/unsubscribe", ({ params }) => {
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
      argsSchema: z.object({
        name: completable(z.string(), (value) => names.filter((name) => name.startsWith(value))),
      }),
    },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Please greet ${name}.` } }] }),
  );
  return server;
}

if (process.argv[2] === "http") serveHttp(newServer, NodeStreamableHTTPServerTransport);
else serveStdio(newServer);
