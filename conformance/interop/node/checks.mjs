// What every JavaScript client checks of a server. The client behind it is an adapter, so that both
// generations of the TypeScript SDK run the same checks.
//
// Adapter: revision, serverInfo, capabilities, ping(), list(kind, cursor) -> page, callTool(params, options),
// readResource(uri), getPrompt(params), complete(params), setLevel(level), subscribe(uri),
// unsubscribe(uri), raw(method, params), tasks {call(params, options) -> messages, get(id), list(), cancel(id)} where the
// SDK has them, answers {sample, elicit, roots}, inbox (an Inbox).
import assert from "node:assert/strict";

const WAIT_MS = 10_000;

/** Notifications as they come in, and a way to wait for one. */
export class Inbox {
  #items = [];
  #waiting = new Set();

  push(method, params) {
    this.#items.push({ method, params });
    for (const look of [...this.#waiting]) look();
  }

  of(method) {
    return this.#items.filter((item) => item.method === method).map((item) => item.params);
  }

  clear() {
    this.#items = [];
  }

  /** Waits until `count` notifications of `method` that satisfy `wanted` are there. */
  async until(method, count = 1, wanted = () => true) {
    const found = () => this.of(method).filter(wanted);
    if (found().length >= count) return found();
    return new Promise((resolve, reject) => {
      const look = () => {
        if (found().length < count) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found());
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`${found().length} of ${count} ${method} came within ${WAIT_MS} ms`));
      }, WAIT_MS);
      this.#waiting.add(look);
    });
  }
}

/** Parses `[--strict] [--auto] [--require A,B] stdio COMMAND ARG... | http URL | sse URL | oauth URL`. */
export function parseArguments(argv) {
  const args = [...argv];
  const options = { strict: false, auto: false, require: [] };
  for (;;) {
    if (args[0] === "--strict") {
      args.shift();
      options.strict = true;
    } else if (args[0] === "--auto") {
      args.shift();
      options.auto = true;
    } else if (args[0] === "--require") {
      args.shift();
      options.require = args.shift().split(",");
    } else break;
  }
  const [kind, ...rest] = args;
  if (kind === "stdio" && rest.length > 0) {
    return { ...options, stdio: { command: rest[0], args: rest.slice(1) } };
  }
  if (rest.length === 1 && (kind === "http" || kind === "sse")) {
    return { ...options, [kind]: new URL(rest[0]) };
  }
  // The same transport, for who has a token.
  if (rest.length === 1 && kind === "oauth") return { ...options, http: new URL(rest[0]), oauth: true };
  console.error(
    "usage: client [--strict] [--auto] [--require everything,interop] stdio COMMAND ARG... | http URL | sse URL | oauth URL",
  );
  process.exit(2);
}

const text = (result) => {
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  return result.content[0].text;
};

const startsWith = (bytes, prefix) => prefix.every((byte, index) => bytes[index] === byte);
const isPng = (data) => startsWith(Buffer.from(data, "base64"), [0x89, 0x50, 0x4e, 0x47]);
const isWav = (data) => Buffer.from(data, "base64").subarray(0, 4).toString("latin1") === "RIFF";

async function fails(promise, code) {
  try {
    await promise;
  } catch (error) {
    if (code !== undefined) assert.equal(error.code, code, `wrong code, message: ${error.message}`);
    return error;
  }
  throw new Error("succeeded, but an error was expected");
}

async function listAll(peer, kind) {
  const items = [];
  let cursor;
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await peer.list(kind, cursor);
    items.push(...page[kind]);
    cursor = page.nextCursor;
    if (cursor === undefined) return items;
  }
  throw new Error("more than 100 pages");
}

/**
 * Runs everything that applies, and `more` after that; prints a line a check, and resolves to the number of
 * failures.
 */
export async function runChecks(peer, options, more = async () => {}) {
  let failures = 0;
  const report = (line) => console.log(JSON.stringify(line));
  const check = async (name, run) => {
    try {
      report({ check: name, ok: true, ...(await run()) });
    } catch (error) {
      failures += 1;
      report({ check: name, ok: false, detail: String(error?.stack ?? error) });
    }
  };
  const call = (name, args, { progressToken, ...extra } = {}) =>
    peer.callTool(
      {
        name,
        ...(args && { arguments: args }),
        ...(progressToken !== undefined && { _meta: { progressToken } }),
      },
      extra,
    );
  const progressOf = (token, count) =>
    peer.inbox.until("notifications/progress", count, ({ progressToken }) => progressToken === token);

  let tools = [];
  await check("initialize", async () => {
    assert.match(peer.revision, /^20\d\d-\d\d-\d\d$/);
    assert.ok(peer.serverInfo.name.length > 0);
    return { revision: peer.revision, server: peer.serverInfo.name };
  });
  await check("ping", async () => void (await peer.ping()));
  await check("tools/list", async () => {
    tools = await listAll(peer, "tools");
    const names = tools.map((tool) => tool.name);
    assert.equal(new Set(names).size, names.length, "a name is listed twice");
    for (const tool of tools) assert.equal(tool.inputSchema.type, "object");
    return { tools: names.length };
  });
  const has = (name) => tools.some((tool) => tool.name === name);

  const profiles = [
    ["everything", "test_simple_text", everything],
    ["interop", "echo", interop],
    ...(peer.tasks && peer.capabilities.tasks?.requests?.tools?.call ? [["tasks", "task_report", tasks]] : []),
  ];
  let ran = 0;
  for (const [profile, marker, run] of profiles) {
    if (has(marker)) {
      ran += 1;
      await run({ peer, options, tools, has, check, call, progressOf });
    } else if (options.require.includes(profile)) {
      await check(`profile ${profile}`, () => assert.fail(`the server does not offer ${marker}`));
    }
  }
  if (ran === 0) await check("profile", () => assert.fail("the server offers no known set of tools"));

  await check("unknown tool is an error", async () => {
    if (options.strict) return void (await fails(call("no_such_tool", {}), -32602));
    // Some peers answer with a result that says it is an error.
    const result = await call("no_such_tool", {}).catch(() => ({ isError: true }));
    assert.equal(result.isError, true);
  });
  await check("unknown method is an error", async () => {
    await fails(peer.raw("no/such/method", {}), -32601);
  });
  await more({ check, call });
  return failures;
}

/** The fixtures of the public conformance suite. */
async function everything({ peer, options, tools, check, call, progressOf }) {
  await check("tools/call text", async () => {
    assert.equal(text(await call("test_simple_text")), "This is a simple text response for testing.");
  });
  await check("tools/call image", async () => {
    const [image] = (await call("test_image_content", {})).content;
    assert.equal(image.type, "image");
    assert.equal(image.mimeType, "image/png");
    assert.ok(isPng(image.data));
  });
  await check("tools/call audio", async () => {
    const [audio] = (await call("test_audio_content", {})).content;
    assert.equal(audio.type, "audio");
    assert.equal(audio.mimeType, "audio/wav");
    assert.ok(isWav(audio.data));
  });
  await check("tools/call embedded resource", async () => {
    const { content } = await call("test_embedded_resource", {});
    assert.deepEqual(content, [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ]);
  });
  await check("tools/call mixed content", async () => {
    const { content } = await call("test_multiple_content_types", {});
    assert.deepEqual(
      content.map((item) => item.type),
      ["text", "image", "resource"],
    );
    assert.equal(content[0].text, "Multiple content types test:");
    assert.equal(content[2].resource.uri, "test://mixed-content-resource");
    assert.equal(content[2].resource.mimeType, "application/json");
    assert.deepEqual(JSON.parse(content[2].resource.text), { test: "data", value: 123 });
  });
  await check("tools/call error", async () => {
    const result = await call("test_error_handling", {});
    assert.equal(result.isError, true);
    assert.equal(text(result), "This tool intentionally returns an error for testing");
  });
  await check("tools/call progress", async () => {
    await call("test_tool_with_progress", {}, { progressToken: "steps" });
    const seen = await progressOf("steps", 3);
    assert.deepEqual(
      seen.map(({ progress, total }) => [progress, total]),
      [
        [0, 100],
        [50, 100],
        [100, 100],
      ],
    );
  });
  await check("logging", async () => {
    await peer.setLevel("debug");
    peer.inbox.clear();
    assert.equal(text(await call("test_tool_with_logging", {})), "Tool with logging executed successfully");
    const wanted = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    const logs = await peer.inbox.until("notifications/message", 3, ({ data }) => wanted.includes(data));
    assert.deepEqual(
      logs.map(({ level, data }) => [level, data]),
      wanted.map((data) => ["info", data]),
    );
  });
  await check("sampling", async () => {
    let asked;
    peer.answers.sample = (params) => {
      asked = params;
      return { role: "assistant", model: "fake", content: { type: "text", text: "a fake answer" } };
    };
    assert.equal(text(await call("test_sampling", { prompt: "say something" })), "LLM response: a fake answer");
    assert.equal(asked.maxTokens, 100);
    const [message] = asked.messages;
    assert.equal(message.role, "user");
    assert.deepEqual([message.content].flat()[0].text, "say something");
  });
  await check("elicitation accepted", async () => {
    let asked;
    // The first field name is the suite's own, the second the reference fixture's.
    const content = {};
    peer.answers.elicit = (params) => {
      asked = params;
      for (const name of params.requestedSchema.required ?? []) content[name] = `${name}@example.com`;
      return { action: "accept", content };
    };
    const answer = text(await call("test_elicitation", { message: "Who are you?" }));
    assert.equal(asked.message, "Who are you?");
    if (options.strict) assert.deepEqual(Object.keys(content).sort(), ["email", "username"]);
    assert.ok(answer.startsWith("User response: action=accept, content="), answer);
    assert.deepEqual(JSON.parse(answer.slice(answer.indexOf("{"))), content);
  });
  await check("elicitation declined", async () => {
    peer.answers.elicit = () => ({ action: "decline" });
    const answer = text(await call("test_elicitation", { message: "Who are you?" }));
    assert.ok(answer.startsWith("User response: action=decline"), answer);
  });
  await check("elicitation with defaults", async () => {
    let asked;
    const content = { name: "Jane Smith", age: 25, score: 88, status: "inactive", verified: false };
    peer.answers.elicit = (params) => {
      asked = params;
      return { action: "accept", content };
    };
    const answer = text(await call("test_elicitation_sep1034_defaults", {}));
    const { properties } = asked.requestedSchema;
    assert.deepEqual(
      Object.entries(properties).map(([name, schema]) => [name, schema.type, schema.default]),
      [
        ["name", "string", "John Doe"],
        ["age", "integer", 30],
        ["score", "number", 95.5],
        ["status", "string", "active"],
        ["verified", "boolean", true],
      ],
    );
    assert.deepEqual(properties.status.enum, ["active", "inactive", "pending"]);
    assert.deepEqual(JSON.parse(answer.slice(answer.indexOf("{"))), content);
  });
  await check("elicitation with enums", async () => {
    let asked;
    const content = {
      untitledSingle: "option1",
      titledSingle: "value1",
      legacyEnum: "opt1",
      untitledMulti: ["option1", "option2"],
      titledMulti: ["value1", "value2"],
    };
    peer.answers.elicit = (params) => {
      asked = params;
      return { action: "accept", content };
    };
    const answer = text(await call("test_elicitation_sep1330_enums", {}));
    const { properties } = asked.requestedSchema;
    assert.deepEqual(properties.untitledSingle.enum, ["option1", "option2", "option3"]);
    assert.deepEqual(
      properties.titledSingle.oneOf.map((item) => item.const),
      ["value1", "value2", "value3"],
    );
    assert.deepEqual(properties.legacyEnum.enumNames, ["Option One", "Option Two", "Option Three"]);
    assert.deepEqual(properties.untitledMulti.items.enum, ["option1", "option2", "option3"]);
    assert.deepEqual(
      properties.titledMulti.items.anyOf.map((item) => item.title),
      ["First Choice", "Second Choice", "Third Choice"],
    );
    assert.deepEqual(JSON.parse(answer.slice(answer.indexOf("{"))), content);
  });
  await check("schema keywords are kept", async () => {
    const { inputSchema } = tools.find((tool) => tool.name === "json_schema_2020_12_tool");
    assert.equal(inputSchema.$schema, "https://json-schema.org/draft/2020-12/schema");
    assert.equal(inputSchema.$defs.address.$anchor, "addressDef");
    assert.equal(inputSchema.additionalProperties, false);
    for (const keyword of ["allOf", "if", "then", "else"]) assert.ok(keyword in inputSchema, keyword);
  });
  await check("resources/list", async () => {
    const uris = (await listAll(peer, "resources")).map((resource) => resource.uri);
    for (const uri of ["test://static-text", "test://static-binary", "test://watched-resource"]) {
      assert.ok(uris.includes(uri), `${uri} is not listed`);
    }
  });
  await check("resources/templates/list", async () => {
    const templates = (await listAll(peer, "resourceTemplates")).map((item) => item.uriTemplate);
    assert.ok(templates.includes("test://template/{id}/data"));
  });
  await check("resources/read text", async () => {
    assert.deepEqual((await peer.readResource("test://static-text")).contents, [
      {
        uri: "test://static-text",
        mimeType: "text/plain",
        text: "This is the content of the static text resource.",
      },
    ]);
  });
  await check("resources/read binary", async () => {
    const [content] = (await peer.readResource("test://static-binary")).contents;
    assert.equal(content.mimeType, "image/png");
    assert.ok(isPng(content.blob));
  });
  await check("resources/read template", async () => {
    const [content] = (await peer.readResource("test://template/123/data")).contents;
    assert.equal(content.uri, "test://template/123/data");
    assert.deepEqual(JSON.parse(content.text), {
      id: "123",
      templateTest: true,
      data: "Data for ID: 123",
    });
  });
  await check("resources/read unknown", async () => {
    const error = await fails(peer.readResource("test://no/such/thing"), options.strict ? (peer.notFoundCode ?? -32002) : undefined);
    if (options.strict) assert.deepEqual(error.data, { uri: "test://no/such/thing" });
  });
  await check("resources/subscribe", async () => {
    await peer.subscribe("test://watched-resource");
    await peer.unsubscribe("test://watched-resource");
  });
  await check("prompts/list", async () => {
    const prompts = await listAll(peer, "prompts");
    const withArguments = prompts.find((prompt) => prompt.name === "test_prompt_with_arguments");
    assert.deepEqual(
      withArguments.arguments.map(({ name, required }) => [name, required]),
      [
        ["arg1", true],
        ["arg2", true],
      ],
    );
  });
  await check("prompts/get", async () => {
    const { messages } = await peer.getPrompt({ name: "test_simple_prompt" });
    assert.deepEqual(messages, [
      { role: "user", content: { type: "text", text: "This is a simple prompt for testing." } },
    ]);
  });
  await check("prompts/get with arguments", async () => {
    const { messages } = await peer.getPrompt({
      name: "test_prompt_with_arguments",
      arguments: { arg1: "hello", arg2: "world" },
    });
    assert.equal(messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'");
  });
  await check("prompts/get with resource", async () => {
    const { messages } = await peer.getPrompt({
      name: "test_prompt_with_embedded_resource",
      arguments: { resourceUri: "test://example-resource" },
    });
    assert.equal(messages[0].content.resource.uri, "test://example-resource");
    assert.equal(messages[0].content.resource.text, "Embedded resource content for testing.");
    assert.equal(messages[1].content.text, "Please process the embedded resource above.");
  });
  await check("prompts/get with image", async () => {
    const { messages } = await peer.getPrompt({ name: "test_prompt_with_image" });
    assert.ok(isPng(messages[0].content.data));
    assert.equal(messages[1].content.text, "Please analyze the image above.");
  });
  await check("prompts/get unknown", async () => {
    await fails(peer.getPrompt({ name: "no_such_prompt" }), options.strict ? -32602 : undefined);
  });
  await check("completion", async () => {
    const { completion } = await peer.complete({
      ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
      argument: { name: "arg1", value: "par" },
    });
    assert.ok(Array.isArray(completion.values));
    if (options.strict) assert.deepEqual(completion.values, ["paris", "park", "party"]);
  });
}

/** The set that the peers' own servers offer too. */
async function interop({ peer, options, tools, has, check, call, progressOf }) {
  const only = async (name, title, run) => {
    if (has(name)) await check(title, run);
    else if (options.strict) await check(title, () => assert.fail(`the server does not offer ${name}`));
  };

  await only("echo", "echo", async () => {
    for (const sample of ["hello", "", 'quotes " and \\ and \n lines', "snow ☃ and 🎉 and \u0000"]) {
      assert.equal(text(await call("echo", { text: sample })), sample);
    }
  });
  await only("echo", "echo of a large text", async () => {
    const large = "0123456789 äöü 🎉\n".repeat(20_000);
    assert.equal(text(await call("echo", { text: large })), large);
  });
  await only("echo", "calls at the same time", async () => {
    const samples = Array.from({ length: 50 }, (_, index) => `call ${index}`);
    const answers = await Promise.all(samples.map((sample) => call("echo", { text: sample })));
    assert.deepEqual(answers.map(text), samples);
  });
  await only("echo", "missing argument is an error", async () => {
    if (options.strict) {
      const result = await call("echo", {});
      assert.equal(result.isError, true);
      assert.match(text(result), /text/);
    } else {
      const result = await call("echo", {}).catch(() => ({ isError: true }));
      assert.equal(result.isError, true);
    }
  });
  await only("add", "structured output", async () => {
    const { outputSchema } = tools.find((tool) => tool.name === "add");
    assert.equal(outputSchema.type, "object");
    assert.equal(outputSchema.properties.sum.type, "number");
    const result = await call("add", { a: 2, b: 3.5 });
    assert.deepEqual(result.structuredContent, { sum: 5.5 });
    assert.deepEqual(JSON.parse(text(result)), { sum: 5.5 });
  });
  await only("fail", "tool error", async () => {
    const result = await call("fail", {});
    assert.equal(result.isError, true);
    assert.ok(text(result).includes("this tool always fails"), text(result));
  });
  await only("progress", "progress", async () => {
    // A number as the token, since the other check has a string.
    assert.equal(text(await call("progress", { count: 5 }, { progressToken: 7_000_000 })), "done");
    const seen = await progressOf(7_000_000, 5);
    assert.deepEqual(
      seen.map(({ progress, total }) => [progress, total]),
      [1, 2, 3, 4, 5].map((step) => [step, 5]),
    );
  });
  await only("ask", "elicitation", async () => {
    let asked;
    peer.answers.elicit = (params) => {
      asked = params;
      return { action: "accept", content: { name: "Ada" } };
    };
    assert.equal(text(await call("ask", {})), "Hello, Ada!");
    assert.equal(asked.message, "What is your name?");
    assert.equal(asked.requestedSchema.properties.name.type, "string");
    peer.answers.elicit = () => ({ action: "cancel" });
    assert.equal(text(await call("ask", {})), "no answer: cancel");
  });
  await only("sample", "sampling", async () => {
    let asked;
    peer.answers.sample = (params) => {
      asked = params;
      return { role: "assistant", model: "fake", content: { type: "text", text: "forty-two" } };
    };
    assert.equal(text(await call("sample", { prompt: "how many?" })), "forty-two");
    assert.equal(asked.maxTokens, 50);
    assert.equal([asked.messages[0].content].flat()[0].text, "how many?");
  });
  await only("roots", "roots", async () => {
    peer.answers.roots = [{ uri: "file:///one", name: "one" }, { uri: "file:///two" }];
    assert.equal(text(await call("roots", {})), "file:///one\nfile:///two");
  });
  await only("log", "logging", async () => {
    await peer.setLevel("warning");
    peer.inbox.clear();
    assert.equal(text(await call("log", { level: "info", message: "too quiet" })), "logged");
    assert.equal(text(await call("log", { level: "error", message: "loud" })), "logged");
    const [loud] = await peer.inbox.until("notifications/message", 1, ({ data }) => data === "loud");
    assert.equal(loud.level, "error");
    const quiet = peer.inbox.of("notifications/message").filter(({ data }) => data === "too quiet");
    assert.deepEqual(quiet, [], "a message below the level was sent");
    await peer.setLevel("debug");
  });
  await only("slow", "cancellation", async () => {
    const count = async () => Number(text(await call("cancelled", {})));
    const before = await count();
    const abort = new AbortController();
    const slow = call("slow", {}, { signal: abort.signal, progressToken: "slow" });
    await Promise.all([progressOf("slow", 1).then(() => abort.abort()), fails(slow)]);
    const end = Date.now() + WAIT_MS;
    while ((await count()) !== before + 1) {
      assert.ok(Date.now() < end, "the server's handler was never cancelled");
    }
  });
  await only("touch", "resource updates", async () => {
    peer.inbox.clear();
    await peer.subscribe("memo://one");
    await call("touch", { uri: "memo://one" });
    await peer.inbox.until("notifications/resources/updated", 1, ({ uri }) => uri === "memo://one");
    await peer.unsubscribe("memo://one");
  });
  await only("grow", "list changes", async () => {
    peer.inbox.clear();
    await call("grow", {});
    await peer.inbox.until("notifications/tools/list_changed");
    assert.ok((await listAll(peer, "tools")).some((tool) => tool.name === "grown"));
  });
  await check("memos", async () => {
    const resources = await listAll(peer, "resources");
    assert.ok(resources.some(({ uri, name }) => uri === "memo://one" && name === "one"));
    const templates = await listAll(peer, "resourceTemplates");
    assert.ok(templates.some(({ uriTemplate }) => uriTemplate === "memo://{name}"));
    const [one] = (await peer.readResource("memo://one")).contents;
    assert.equal(one.text, "first memo");
    const [two] = (await peer.readResource("memo://two")).contents;
    assert.equal(two.uri, "memo://two");
    assert.equal(two.text, "second memo");
    await fails(peer.readResource("memo://three"), options.strict ? (peer.notFoundCode ?? -32002) : undefined);
  });
  await check("greeting", async () => {
    const prompts = await listAll(peer, "prompts");
    const greet = prompts.find((prompt) => prompt.name === "greet");
    assert.deepEqual(
      greet.arguments.map(({ name, required }) => [name, required]),
      [["name", true]],
    );
    const { messages } = await peer.getPrompt({ name: "greet", arguments: { name: "Ada" } });
    assert.equal(messages.length, 1);
    assert.equal(messages[0].role, "user");
    assert.equal(messages[0].content.text, "Please greet Ada.");
    const { completion } = await peer.complete({
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "name", value: "Al" },
    });
    assert.deepEqual(completion.values, ["Alice", "Alan"]);
  });
}

/** Tools that run as tasks. */
async function tasks({ peer, check, call }) {
  /** Runs one as a task; resolves to what it came to and the statuses on the way. */
  const run = async (name) => {
    const statuses = [];
    let id;
    let created;
    for await (const message of peer.tasks.call({ name, arguments: {} }, { task: { ttl: 60_000 } })) {
      if (message.type === "taskCreated") ({ taskId: id, status: created } = message.task);
      if (message.type === "taskStatus") statuses.push(message.task.status);
      if (message.type === "error") throw message.error;
      if (message.type === "result") return { id, created, statuses, result: message.result };
    }
    throw new Error("it ended without a result");
  };
  await check("task", async () => {
    const { id, created, statuses, result } = await run("task_report");
    assert.equal(text(result), "reported");
    assert.equal(created, "working");
    assert.equal(statuses.at(-1), "completed");
    assert.deepEqual(result._meta["io.modelcontextprotocol/related-task"], { taskId: id });
    const task = await peer.tasks.get(id);
    assert.deepEqual([task.taskId, task.status, task.ttl], [id, "completed", 60_000]);
    assert.ok((await peer.tasks.list()).tasks.some((other) => other.taskId === id));
  });
  await check("task that asks", async () => {
    peer.answers.elicit = ({ _meta }) => {
      assert.ok(_meta["io.modelcontextprotocol/related-task"].taskId.length > 0);
      return { action: "accept", content: { name: "Ada" } };
    };
    // Whether it is ever seen waiting depends on how fast the answer is.
    const { created, result } = await run("task_ask");
    assert.equal(created, "working");
    assert.equal(text(result), "Hello, Ada!");
  });
  await check("task canceled", async () => {
    const { task } = await peer.raw("tools/call", { name: "task_slow", arguments: {}, task: { ttl: 60_000 } });
    assert.equal((await peer.tasks.cancel(task.taskId)).status, "cancelled");
    assert.equal((await peer.tasks.get(task.taskId)).status, "cancelled");
    await fails(peer.tasks.cancel(task.taskId), -32602);
    await fails(peer.tasks.get("no-such-task"), -32602);
  });
  await check("task that has to be one", async () => {
    await fails(peer.raw("tools/call", { name: "task_ask", arguments: {} }), -32601);
    await fails(peer.raw("tools/call", { name: "task_sample", arguments: {}, task: {} }), -32601);
  });
  await check("task of the client", async () => {
    peer.answers.sample = () => ({
      role: "assistant",
      content: { type: "text", text: "sampled" },
      model: "none",
    });
    assert.equal(text(await call("task_sample", {})), "sampled");
  });
}
