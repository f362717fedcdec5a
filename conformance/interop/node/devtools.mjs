// As much of a browser's DevTools protocol as it takes to use a page: start, look, click, type.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const STEP_MS = 30_000;
const BETWEEN_PAGES = /target navigated or closed|context was destroyed|Cannot find (default execution )?context/;
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** Waits until `look` gives something, asking again and again, for `STEP_MS` at most. */
export async function until(what, look) {
  const deadline = Date.now() + STEP_MS;
  let last;
  while (Date.now() < deadline) {
    try {
      last = await look();
    } catch (error) {
      // While the browser goes from one page to the next there is nothing to look at.
      if (!BETWEEN_PAGES.test(error.message)) throw error;
      last = undefined;
    }
    if (last) return last;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within ${STEP_MS} ms: ${what}`);
}

function program() {
  const named = process.env.MCP_INTEROP_BROWSER;
  if (named) return named;
  for (const folder of (process.env.PATH ?? "").split(":")) {
    for (const name of PROGRAMS) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  throw new Error("no Chromium: install the package chromium, or name one by MCP_INTEROP_BROWSER");
}

/** A browser without a window, and its one page. */
export class Browser {
  #process;
  #profile;
  #socket;
  #waiting = new Map();
  #next = 0;

  static async start() {
    const browser = new Browser();
    browser.#profile = await mkdtemp(join(tmpdir(), "mcp-browser-"));
    browser.#process = spawn(
      program(),
      [
        "--headless=new",
        // In a container there is no sandbox to be had, and the only pages are our own.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--remote-debugging-port=0",
        `--user-data-dir=${browser.#profile}`,
        "--window-size=1400,1000",
        "about:blank",
      ],
      // What it leaves there goes with the profile.
      { stdio: "ignore", env: { ...process.env, TMPDIR: browser.#profile } },
    );
    const failed = new Promise((_, reject) => browser.#process.once("error", reject));
    await Promise.race([failed, browser.#attach()]);
    failed.catch(() => {});
    return browser;
  }

  async #attach() {
    const file = join(this.#profile, "DevToolsActivePort");
    const port = await until("the browser says its port", async () => {
      const lines = existsSync(file) ? (await readFile(file, "utf8")).split("\n") : [];
      return lines.length > 1 ? lines[0] : undefined;
    });
    const page = await until("the browser has a page", async () => {
      const pages = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
      return pages.find(({ type }) => type === "page");
    });
    this.#socket = new WebSocket(page.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = () => reject(new Error("the browser can't be talked to"));
    });
    this.#socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      const waiting = this.#waiting.get(id);
      if (!waiting) return;
      this.#waiting.delete(id);
      if (error) waiting.reject(new Error(error.message));
      else waiting.resolve(result);
    };
    this.#socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser is gone"));
      this.#waiting.clear();
    };
  }

  #send(method, params = {}) {
    return new Promise((resolve, reject) => {
      const id = ++this.#next;
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  open(url) {
    return this.#send("Page.navigate", { url });
  }

  /** Runs a function in the page; arguments and answer are JSON. */
  async run(script, ...args) {
    const expression = `(${script})(...${JSON.stringify(args)})`;
    const answer = await this.#send("Runtime.evaluate", { expression, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description);
    return answer.result.value;
  }

  /** The text that the page shows. */
  text() {
    return this.run(() => document.body?.innerText ?? "");
  }

  /** Waits until the page shows `text`. */
  async shows(text) {
    let shown = "";
    const look = async () => (shown = await this.text()).includes(text);
    try {
      await until(`the page shows ${JSON.stringify(text)}`, look);
    } catch (error) {
      throw new Error(`${error.message}; it shows: ${shown.replace(/\s+/g, " ").slice(0, 1000)}`);
    }
  }

  /** Clicks, as a person would, on what `find` gives, once that is there and can be clicked. */
  async click(what, find, ...args) {
    let before = "";
    // Pages move things about: it has to stand still.
    const place = await until(`${what} can be clicked`, async () => {
      const now = await this.run(
        `(...args) => {
          const element = (${find})(...args);
          if (!element || element.disabled) return null;
          const shown = element.labels?.[0] ?? element;
          shown.scrollIntoView({ block: "center", behavior: "instant" });
          const box = shown.getBoundingClientRect();
          const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
          const top = document.elementFromPoint(place.x, place.y);
          return top && (shown.contains(top) || top.contains(shown)) ? place : null;
        }`,
        ...args,
      );
      const still = now && JSON.stringify(now) === before;
      before = JSON.stringify(now);
      return still ? now : undefined;
    });
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.#send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
    }
  }

  /** Types into whatever was clicked last. */
  type(text) {
    return this.#send("Input.insertText", { text });
  }

  async screenshot(path) {
    const { data } = await this.#send("Page.captureScreenshot", { format: "png" });
    await writeFile(path, Buffer.from(data, "base64"));
  }

  async stop() {
    this.#socket?.close();
    if (this.#process?.exitCode === null && this.#process.pid) {
      const ended = new Promise((resolve) => this.#process.once("exit", resolve));
      this.#process.kill();
      await ended;
    }
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
