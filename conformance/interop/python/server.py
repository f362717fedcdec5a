"""A server on the Python SDK: `stdio`, `http`, `sse`, or `oauth` for one on HTTP that wants a token."""

import asyncio
import json
import socket
import sys
import warnings
from typing import Annotated, Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import BaseModel, Field

from authority import Authority, add_tools, options

# The features that the next revision drops are what this server is for.
warnings.simplefilter("ignore", MCPDeprecationWarning)

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
MEMOS = {"one": "first memo", "two": "second memo"}
NAMES = ["Alice", "Alan", "Bob"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

# A protected server has to know its address before there is one.
listener = socket.create_server(("127.0.0.1", 0)) if sys.argv[1:] != ["stdio"] else None
origin = f"http://127.0.0.1:{listener.getsockname()[1]}" if listener else ""
authority = Authority() if sys.argv[1:] == ["oauth"] else None

mcp = MCPServer(
    "interop-server-python",
    version="1.0.0",
    log_level="WARNING",
    warn_on_duplicate_tools=False,
    **(options(origin, authority) if authority else {}),
)
low = mcp._lowlevel_server
cancelled = 0


class Name(BaseModel):
    name: str


class Sum(BaseModel):
    sum: float


def state(ctx: Any) -> dict[str, Any]:
    """What this server keeps for one session; the SDK has a place for it, but no public name."""
    return ctx.session._connection.state


@mcp.tool(description="Says the text back", structured_output=False)
def echo(text: str) -> str:
    return text


@mcp.tool(description="Adds two numbers")
def add(a: float, b: float) -> Annotated[types.CallToolResult, Sum]:
    result = {"sum": a + b}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(result))], structured_content=result
    )


@mcp.tool(description="Gives one of each kind of content", structured_output=False)
def contents() -> types.CallToolResult:
    memo = types.TextResourceContents(uri="memo://one", mime_type="text/plain", text=MEMOS["one"])
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text="one of each"),
            types.ImageContent(type="image", data=PNG, mime_type="image/png"),
            types.AudioContent(type="audio", data=WAV, mime_type="audio/wav"),
            types.EmbeddedResource(type="resource", resource=memo),
            types.ResourceLink(type="resource_link", uri="memo://two", name="two"),
        ]
    )


@mcp.tool(description="Always fails", structured_output=False)
def fail() -> str:
    raise ToolError("this tool always fails")


@mcp.tool(description="Reports progress", structured_output=False)
async def progress(count: Annotated[int, Field(ge=1, le=100)], ctx: Context) -> str:
    for step in range(1, count + 1):
        await ctx.report_progress(step, count)
    return "done"


@mcp.tool(description="Asks the user for a name", structured_output=False)
async def ask(ctx: Context) -> str:
    if ctx.client_capabilities is None or ctx.client_capabilities.elicitation is None:
        return "client cannot be asked"
    answer = await ctx.elicit("What is your name?", Name)
    return f"Hello, {answer.data.name}!" if answer.action == "accept" else f"no answer: {answer.action}"


@mcp.tool(description="Asks the client's model", structured_output=False)
async def sample(prompt: str, ctx: Context) -> str:
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        return "client cannot sample"
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([message], max_tokens=50, related_request_id=ctx.request_id)
    return answer.content.text


@mcp.tool(description="Lists the client's roots", structured_output=False)
async def roots(ctx: Context) -> str:
    if ctx.client_capabilities is None or ctx.client_capabilities.roots is None:
        return "client has no roots"
    return "\n".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@mcp.tool(description="Logs a message", structured_output=False)
async def log(level: str, message: str, ctx: Context) -> str:
    if LEVELS.index(level) >= LEVELS.index(state(ctx).get("level", "debug")):
        await ctx.session.send_log_message(level, message, "interop", related_request_id=ctx.request_id)
    return "logged"


@mcp.tool(description="Waits to be cancelled", structured_output=False)
async def slow(ctx: Context) -> str:
    global cancelled
    await ctx.report_progress(1)
    try:
        await anyio.sleep(30)
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise
    return "done"


@mcp.tool(name="cancelled", description="Counts the cancelled calls of slow", structured_output=False)
def count_cancelled() -> str:
    return str(cancelled)


@mcp.tool(description="Says that a resource has changed", structured_output=False)
async def touch(uri: str, ctx: Context) -> str:
    if uri in state(ctx).get("subscribed", set()):
        await ctx.session.send_resource_updated(uri)
    return "touched"


@mcp.tool(description="Adds the tool grown", structured_output=False)
async def grow(ctx: Context) -> str:
    mcp.add_tool(lambda: "grown", name="grown", description="Was added at run time", structured_output=False)
    await ctx.session.send_tool_list_changed()
    return "grown"


@mcp.resource("memo://one", name="one", mime_type="text/plain")
def memo_one() -> str:
    return MEMOS["one"]


@mcp.resource("memo://{name}", name="memo", mime_type="text/plain")
def memo(name: str) -> str:
    if name not in MEMOS:
        raise ResourceNotFoundError(f"no memo called {name}")
    return MEMOS[name]


@mcp.prompt(description="Greets somebody")
def greet(name: str) -> str:
    return f"Please greet {name}."


@mcp.completion()
async def complete(ref: Any, argument: types.CompletionArgument, context: Any) -> types.Completion:
    return types.Completion(values=[name for name in NAMES if name.startswith(argument.value)])


async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
    state(ctx)["level"] = params.level
    return types.EmptyResult()


async def subscribe(ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
    state(ctx).setdefault("subscribed", set()).add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    state(ctx).setdefault("subscribed", set()).discard(str(params.uri))
    return types.EmptyResult()


low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)


async def serve(app: Any, path: str) -> None:
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    # Connections wait in the backlog until the server takes them.
    print(f"listening on {origin}{path}", file=sys.stderr, flush=True)
    await server.serve(sockets=[listener])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["http" | "oauth"]:
            if authority:
                add_tools(mcp, authority)
            asyncio.run(serve(mcp.streamable_http_app(), "/mcp"))
        case ["sse"]:
            asyncio.run(serve(mcp.sse_app(), "/sse"))
        case _:
            mcp.run("stdio")
