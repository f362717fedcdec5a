// Lets the scripts of this folder import the pinned packages, which live in the cache and not beside
// them. Used as `node --import resolve.mjs`, with MCP_INTEROP_NODE naming the installed folder.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const installed = process.env.MCP_INTEROP_NODE;
if (!installed) throw new Error("MCP_INTEROP_NODE is not set; start this through run.sh");

const here = new URL(".", import.meta.url).href;
const root = pathToFileURL(`${installed}/package.json`).href;

registerHooks({
  resolve(specifier, context, next) {
    const ours = context.parentURL?.startsWith(here);
    const bare = !/^(\.|\/|[a-z]+:)/.test(specifier);
    return next(specifier, ours && bare ? { ...context, parentURL: root } : context);
  },
});
