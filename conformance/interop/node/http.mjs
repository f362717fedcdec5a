// The HTTP side of the JavaScript servers: Streamable HTTP at /mcp for both SDK generations, and the
// older HTTP+SSE at /sse.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

/** An event log in memory, as both SDKs want it: what was sent, by stream. */
function eventStore() {
  const events = [];
  return {
    async storeEvent(streamId, message) {
      events.push({ streamId, message });
      return `${streamId}_${events.length - 1}`;
    },
    async getStreamIdForEventId(eventId) {
      return events[Number(eventId.split("_").at(-1))]?.streamId;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const index = Number(lastEventId.split("_").at(-1));
      const { streamId } = events[index];
      for (let next = index + 1; next < events.length; next += 1) {
        const { streamId: owner, message } = events[next];
        // A priming event has no message to send again.
        if (owner === streamId && Object.keys(message).length > 0) await send(`${owner}_${next}`, message);
      }
      return streamId;
    },
  };
}

function refuse(response, status, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message } }));
}

/** Answers with `handle` on a free port of 127.0.0.1. */
function listen(path, handle) {
  const http = createServer(async (request, response) => {
    try {
      await handle(request, response, new URL(request.url, "http://localhost"));
    } catch (error) {
      console.error(error);
      if (!response.headersSent) refuse(response, 500, "internal error");
    }
  });
  http.listen(0, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${http.address().port}${path}`));
}

/** Answers requests to `newServer()`, one for each session. */
export function sessions(newServer, Transport) {
  const known = new Map();
  return async (request, response, body) => {
    const id = request.headers["mcp-session-id"];
    let transport = known.get(id);
    if (transport === undefined) {
      if (id !== undefined) return refuse(response, 404, "no such session");
      transport = new Transport({
        sessionIdGenerator: randomUUID,
        eventStore: eventStore(),
        retryInterval: 200,
        onsessioninitialized: (session) => void known.set(session, transport),
        onsessionclosed: (session) => void known.delete(session),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response, body);
  };
}

/** Serves `newServer()` over Streamable HTTP. */
export function serveHttp(newServer, Transport) {
  const answer = sessions(newServer, Transport);
  listen("/mcp", async (request, response, { pathname }) => {
    if (pathname !== "/mcp") return refuse(response, 404, "no such path");
    await answer(request, response);
  });
}

/** Serves `newServer()`, one for each stream, over HTTP+SSE. */
export function serveSse(newServer, Transport) {
  const sessions = new Map();
  listen("/sse", async (request, response, { pathname, searchParams }) => {
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new Transport("/messages", response);
      sessions.set(transport.sessionId, transport);
      response.on("close", () => sessions.delete(transport.sessionId));
      return newServer().connect(transport);
    }
    // A client of Streamable HTTP tries a POST first; this is how it learns of the older transport.
    if (pathname === "/sse") return refuse(response, 405, "only GET here");
    const transport = sessions.get(searchParams.get("sessionId"));
    if (pathname !== "/messages" || transport === undefined) return refuse(response, 404, "no such session");
    return transport.handlePostMessage(request, response);
  });
}
