// The Inspector's command line: one process and one session for each check.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArguments } from "./checks.mjs";

const TOOL_SAID_ERROR = 5;

const options = parseArguments(process.argv.slice(2));
const packages = join(process.env.MCP_INTEROP_NODE, "package.json");
const manifest = createRequire(packages).resolve("@modelcontextprotocol/inspector/package.json");
const inspector = join(dirname(manifest), "clients/launcher/build/index.js");
// It keeps a catalog of servers in the home folder; ours is not its business.
const home = await mkdtemp(join(tmpdir(), "mcp-interop-"));

/** Runs one method and resolves to `{ code, result, error }`. */
function inspect(method, ...flags) {
  const target = options.stdio
    ? ["--", options.stdio.command, ...options.stdio.args]
    : options.http
      ? ["--transport", "http", "--server-url", options.http.href]
      : ["--transport", "sse", "--server-url", options.sse.href];
  const era = ["--protocol-era", options.auto ? "auto" : "legacy"];
  const args = [inspector, "--cli", "--method", method, ...flags, ...era, "--format", "json", ...target];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { env: { ...process.env, HOME: home }, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      (failure, stdout, stderr) => {
        const line = stdout.trim() || stderr.trim().split("\n").at(-1);
        try {
          resolve({ code: failure?.code ?? 0, ...JSON.parse(line) });
        } catch {
          reject(new Error(`exit ${failure?.code}: ${stdout}${stderr}`));
        }
      },
    );
  });
}

async function succeeds(method, ...flags) {
  const { code, result, error } = await inspect(method, ...flags);
  assert.equal(code, 0, JSON.stringify(error));
  return result;
}

const call = (name, args) =>
  succeeds("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));

async function toolFails(name) {
  const { code, result } = await inspect("tools/call", "--tool-name", name);
  assert.equal(code, TOOL_SAID_ERROR);
  assert.equal(result.isError, true);
}

let failures = 0;
async function check(name, run) {
  try {
    console.log(JSON.stringify({ check: name, ok: true, ...(await run()) }));
  } catch (error) {
    failures += 1;
    console.log(JSON.stringify({ check: name, ok: false, detail: String(error?.stack ?? error) }));
  }
}

async function everything() {
  await check("tools/call text", async () => {
    assert.deepEqual((await call("test_simple_text", {})).content, [
      { type: "text", text: "This is a simple text response for testing." },
    ]);
  });
  await check("tools/call mixed content", async () => {
    const { content } = await call("test_multiple_content_types", {});
    assert.deepEqual(
      content.map(({ type }) => type),
      ["text", "image", "resource"],
    );
  });
  await check("tools/call error", () => toolFails("test_error_handling"));
  await check("resources/list", async () => {
    const { resources } = await succeeds("resources/list");
    assert.ok(resources.some(({ uri }) => uri === "test://static-text"));
  });
  await check("resources/templates/list", async () => {
    const { resourceTemplates } = await succeeds("resources/templates/list");
    assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === "test://template/{id}/data"));
  });
  await check("resources/read", async () => {
    const { contents } = await succeeds("resources/read", "--uri", "test://static-text");
    assert.equal(contents[0].text, "This is the content of the static text resource.");
  });
  await check("prompts/list", async () => {
    const { prompts } = await succeeds("prompts/list");
    assert.ok(prompts.some(({ name }) => name === "test_simple_prompt"));
  });
  await check("prompts/get", async () => {
    const flags = ["--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=hello", "arg2=world"];
    const { messages } = await succeeds("prompts/get", ...flags);
    assert.equal(messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'");
  });
}

async function interop() {
  await check("echo", async () => {
    const text = 'snow ☃, 🎉 and "quotes"';
    assert.deepEqual((await call("echo", { text })).content, [{ type: "text", text }]);
  });
  await check("structured output", async () => {
    assert.deepEqual((await call("add", { a: 2, b: 3.5 })).structuredContent, { sum: 5.5 });
  });
  await check("tool error", () => toolFails("fail"));
  await check("memos", async () => {
    const { contents } = await succeeds("resources/read", "--uri", "memo://two");
    assert.equal(contents[0].text, "second memo");
  });
  await check("greeting", async () => {
    const { messages } = await succeeds("prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada");
    assert.equal(messages[0].content.text, "Please greet Ada.");
  });
}

await check("initialize", async () => {
  const result = await succeeds("initialize");
  return { revision: result.protocolVersion, server: result.serverInfo.name };
});
let names = [];
await check("tools/list", async () => {
  const { tools } = await succeeds("tools/list");
  names = tools.map(({ name }) => name);
  return { tools: names.length };
});
const profiles = { everything: ["test_simple_text", everything], interop: ["echo", interop] };
let ran = 0;
for (const [profile, [marker, run]] of Object.entries(profiles)) {
  if (names.includes(marker)) {
    ran += 1;
    await run();
  } else if (options.require.includes(profile)) {
    await check(`profile ${profile}`, () => assert.fail(`the server does not offer ${marker}`));
  }
}
if (ran === 0) await check("profile", () => assert.fail("the server offers no known set of tools"));
await check("logging/setLevel", async () => void (await succeeds("logging/setLevel", "--log-level", "debug")));
await rm(home, { recursive: true, force: true });
process.exitCode = failures === 0 ? 0 : 1;
