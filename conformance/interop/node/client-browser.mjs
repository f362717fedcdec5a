// The Inspector as most people meet it: its page, in a real browser, connected to a server on HTTP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArguments } from "./checks.mjs";
import { Browser, until } from "./devtools.mjs";

const options = parseArguments(process.argv.slice(2));
if (options.stdio) throw new Error("a browser is shown servers on HTTP");
const artifacts = process.env.MCP_INTEROP_ARTIFACTS ?? tmpdir();

/** A port that was free a moment ago: the Inspector takes none by itself. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts the Inspector's page for the server; gives the address with its token. */
async function inspector(home) {
  const packages = join(process.env.MCP_INTEROP_NODE, "package.json");
  const manifest = createRequire(packages).resolve("@modelcontextprotocol/inspector/package.json");
  const launcher = join(dirname(manifest), "clients/launcher/build/index.js");
  const target = options.http
    ? ["--transport", "http", "--server-url", options.http.href]
    : ["--transport", "sse", "--server-url", options.sse.href];
  const program = spawn(process.execPath, [launcher, "--web", ...target], {
    env: {
      ...process.env,
      HOME: home,
      MCP_STORAGE_DIR: home,
      CLIENT_PORT: String(await freePort()),
      MCP_SANDBOX_PORT: "0",
      MCP_APP_ORIGIN_PORT: String(await freePort()),
      MCP_AUTO_OPEN_ENABLED: "false",
      MCP_INSPECTOR_SECRET_STORE: "memory",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  }
  const url = await until("the Inspector says where it is", () => {
    if (program.exitCode !== null) throw new Error(`the Inspector has ended: ${said}`);
    return said.match(/http:\/\/\S+MCP_INSPECTOR_API_TOKEN=\w+/)?.[0];
  });
  return { program, url };
}

let failures = 0;
async function check(name, run) {
  // Each builds on what the one before has done to the page.
  if (failures > 0) return;
  try {
    console.log(JSON.stringify({ check: name, ok: true, ...(await run()) }));
  } catch (error) {
    failures += 1;
    console.log(JSON.stringify({ check: name, ok: false, detail: String(error?.stack ?? error) }));
  }
}

const button = `(text) => [...document.querySelectorAll("button")].find((b) => b.innerText.trim() === text)`;
const tab = `(name) => [...document.querySelectorAll("input[type=radio]")].find((i) => i.value === name)`;
const field = `(label) => [...document.querySelectorAll("input, textarea")]
  .find((i) => i.labels?.[0]?.innerText.replace("*", "").trim() === label)`;

async function visit(browser) {
  const run = async (tool) => {
    await browser.click("the tab Tools", tab, "Tools");
    await browser.click(tool, button, tool);
    await browser.click("its button", button, "Execute Tool");
  };
  // The page of the authorization server, on which a person presses the button.
  const allow = async (scopes) => {
    await browser.shows("Allow access?");
    await browser.shows(`${options.http.href} with the scopes ${scopes}.`);
    await browser.click("its button", button, "Allow");
  };
  const connect = `() => document.querySelector("input[aria-label^='Connect or']")`;
  if (options.oauth) {
    await check("authorization login", async () => {
      await browser.click("the switch", connect);
      await allow("mcp:use");
    });
  }
  await check("connect", async () => {
    if (!options.oauth) await browser.click("the switch", connect);
    await browser.shows("Connected");
    const text = await browser.text();
    assert.match(text, /MCP \d{4}-\d\d-\d\d/);
    return { revision: text.match(/MCP (\d{4}-\d\d-\d\d)/)[1] };
  });
  await check("tools/list", async () => {
    await browser.click("the tab Tools", tab, "Tools");
    await browser.shows("Tools (");
    const text = await browser.text();
    for (const name of ["test_simple_text", "echo", "add"]) assert.ok(text.includes(name), name);
    return { tools: Number(text.match(/Tools \((\d+)\)/)[1]) };
  });
  await check("tools/call text", async () => {
    await browser.click("test_simple_text", button, "test_simple_text");
    await browser.click("its button", button, "Execute Tool");
    await browser.shows("This is a simple text response for testing.");
  });
  await check("tools/call with arguments", async () => {
    await browser.click("add", button, "add");
    for (const [label, value] of [["a", "20"], ["b", "22"]]) {
      await browser.click(`the field ${label}`, field, label);
      await browser.type(value);
    }
    await browser.click("its button", button, "Execute Tool");
    await browser.shows('"sum": 42');
  });
  await check("screenshot", async () => {
    await mkdir(artifacts, { recursive: true });
    const path = join(artifacts, `inspector-${options.oauth ? "oauth" : options.http ? "http" : "sse"}.png`);
    await browser.screenshot(path);
    return { path };
  });
  await check("prompts/list", async () => {
    await browser.click("the tab Prompts", tab, "Prompts");
    await browser.shows("Prompts (");
    await browser.shows("Greets somebody.");
  });
  await check("resources/read", async () => {
    await browser.click("the tab Resources", tab, "Resources");
    await browser.click("the static text", button, "Static Text Resource");
    await browser.shows("This is the content of the static text resource.");
  });
  if (options.oauth) {
    await check("authorization step-up", async () => {
      await run("restricted");
      await browser.shows("This operation needs additional scope: mcp:admin");
      await browser.click("its button", button, "Authorize");
      await allow("mcp:use mcp:admin");
      await browser.shows("Connected");
      await run("restricted");
      await browser.shows("allowed");
    });
  }
}

const home = await mkdtemp(join(tmpdir(), "mcp-interop-"));
let program, browser;
try {
  await check("start", async () => {
    const started = await inspector(home);
    program = started.program;
    browser = await Browser.start();
    await browser.open(started.url);
    await browser.shows((options.http ?? options.sse).href);
  });
  await visit(browser);
} finally {
  await browser?.stop();
  program?.kill();
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
process.exitCode = failures === 0 ? 0 : 1;
