// One Streamable HTTP endpoint at /mcp with sessions, for the servers of both SDK generations.
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

/** Serves `newServer()`, one for each session, on a free port of 127.0.0.1. */
export function serveHttp(newServer, Transport) {
  const sessions = new Map();
  const refuse = (response, status, message) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message } }));
  };
  const http = createServer(async (request, response) => {
    try {
      if (new URL(request.url, "http://localhost").pathname !== "/mcp") return refuse(response, 404, "no such path");
      const id = request.headers["mcp-session-id"];
      let transport = sessions.get(id);
      if (transport === undefined) {
        if (id !== undefined) return refuse(response, 404, "no such session");
        transport = new Transport({
          sessionIdGenerator: randomUUID,
          eventStore: eventStore(),
          retryInterval: 200,
          onsessioninitialized: (session) => void sessions.set(session, transport),
          onsessionclosed: (session) => void sessions.delete(session),
        });
        await newServer().connect(transport);
      }
      await transport.handleRequest(request, response);
    } catch (error) {
      console.error(error);
      if (!response.headersSent) refuse(response, 500, "internal error");
    }
  });
  http.listen(0, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${http.address().port}/mcp`));
}
