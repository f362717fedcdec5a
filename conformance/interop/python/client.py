"""A client on the Python SDK.

client.py [--strict] [--auto] [--require SET,SET] stdio COMMAND ARG... | http URL | sse URL | oauth URL

It starts with the handshake or, with --auto, by asking whether the server knows a revision without
one, which is what the SDK does by itself.
"""

import base64
import json
import re
import sys
import traceback
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from login import Login

warnings.simplefilter("ignore", MCPDeprecationWarning)

WAIT = 10.0


class Inbox:
    """Notifications as they come in, and a way to wait for one."""

    def __init__(self) -> None:
        self.items: list[tuple[str, Any]] = []
        self.changed = anyio.Event()

    def push(self, method: str, params: Any) -> None:
        self.items.append((method, params))
        self.changed.set()
        self.changed = anyio.Event()

    def of(self, method: str) -> list[Any]:
        return [params for name, params in self.items if name == method]

    def clear(self) -> None:
        self.items.clear()

    async def until(self, method: str, count: int = 1, wanted: Callable[[Any], bool] = lambda _: True) -> list[Any]:
        with anyio.fail_after(WAIT):
            while True:
                found = [params for params in self.of(method) if wanted(params)]
                if len(found) >= count:
                    return found
                await self.changed.wait()


class Arguments:
    def __init__(self, argv: list[str]) -> None:
        self.strict = False
        self.mode = "legacy"
        self.require: list[str] = []
        self.login: Login | None = None
        while argv and argv[0].startswith("--"):
            match argv.pop(0):
                case "--strict":
                    self.strict = True
                case "--auto":
                    self.mode = "auto"
                case "--require":
                    self.require = argv.pop(0).split(",")
                case other:
                    sys.exit(f"unknown flag {other}")
        match argv:
            case ["stdio", command, *args]:
                self.server: Any = StdioServerParameters(command=command, args=args)
            case ["http", url]:
                self.server = url
            case ["sse", url]:
                self.server = sse_client(url)
            case ["oauth", url]:
                self.login = Login(url)
                self.server = self.login.transport
            case _:
                print(__doc__, file=sys.stderr)
                sys.exit(2)


def equal(actual: Any, expected: Any) -> None:
    if actual != expected:
        raise AssertionError(f"expected {expected!r:.500}, got {actual!r:.500}")


def text(result: types.CallToolResult) -> str:
    equal([block.type for block in result.content], ["text"])
    return result.content[0].text


def is_png(data: str) -> bool:
    return base64.b64decode(data).startswith(b"\x89PNG")


async def fails(call: Awaitable[Any], code: int | None = None) -> MCPError:
    try:
        await call
    except MCPError as error:
        if code is not None:
            equal(error.code, code)
        return error
    raise AssertionError("succeeded, but an error was expected")


async def list_all(fetch: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    items: list[Any] = []
    cursor = None
    for _ in range(100):
        page = await fetch(cursor=cursor)
        items += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            return items
    raise AssertionError("more than 100 pages")


class Checks:
    def __init__(self, arguments: Arguments) -> None:
        self.strict = arguments.strict
        self.login = arguments.login
        self.failures = 0
        self.inbox = Inbox()
        self.on_sample: Callable[[types.CreateMessageRequestParams], Any] | None = None
        self.on_elicit: Callable[[types.ElicitRequestParams], Any] | None = None
        self.roots: list[types.Root] = []
        self.tools: list[types.Tool] = []
        self.client = Client(
            arguments.server,
            mode=arguments.mode,
            client_info=types.Implementation(name="interop-python", version="1.0.0"),
            sampling_callback=self.sample,
            elicitation_callback=self.elicit,
            list_roots_callback=self.list_roots,
            message_handler=self.message,
        )

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> Any:
        return self.on_sample(params)

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> Any:
        return self.on_elicit(params)

    async def list_roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=self.roots)

    async def message(self, message: Any) -> None:
        if not isinstance(message, Exception):
            self.inbox.push(message.method, message.params)

    async def check(self, name: str, run: Callable[[], Awaitable[dict[str, Any] | None]]) -> None:
        try:
            with anyio.fail_after(60):
                details = await run()
        except Exception:
            self.failures += 1
            line = {"check": name, "ok": False, "detail": traceback.format_exc()}
        else:
            line = {"check": name, "ok": True, **(details or {})}
        print(json.dumps(line, separators=(",", ":")), flush=True)

    async def check_tool(self, tool: str, name: str, run: Callable[[], Awaitable[None]]) -> None:
        async def missing() -> None:
            raise AssertionError(f"the server does not offer {tool}")

        if self.has(tool):
            await self.check(name, run)
        elif self.strict:
            await self.check(name, missing)

    def has(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> types.CallToolResult:
        return await self.client.call_tool(name, arguments, **options)

    async def run(self, require: list[str]) -> None:
        await self.check("initialize", self.initialize)
        await self.check("ping", self.ping)
        await self.check("tools/list", self.list_tools)
        profiles = {"everything": ("test_simple_text", self.everything), "interop": ("echo", self.interop)}

        async def missing() -> None:
            raise AssertionError("the server does not offer the tools of this set")

        ran = 0
        for profile, (marker, run) in profiles.items():
            if self.has(marker):
                ran += 1
                await run()
            elif profile in require:
                await self.check(f"profile {profile}", missing)
        if ran == 0:
            await self.check("profile", missing)
        await self.check("unknown tool is an error", self.unknown_tool)
        await self.check("unknown method is an error", self.unknown_method)
        if self.login:
            await self.login.checks(self.check, self.call)

    async def initialize(self) -> dict[str, Any]:
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", self.client.protocol_version)
        assert self.client.server_info.name
        return {"revision": self.client.protocol_version, "server": self.client.server_info.name}

    async def ping(self) -> None:
        await self.client.send_ping()

    async def list_tools(self) -> dict[str, Any]:
        self.tools = await list_all(self.client.list_tools, "tools")
        names = [tool.name for tool in self.tools]
        equal(len(set(names)), len(names))
        for tool in self.tools:
            equal(tool.input_schema["type"], "object")
        return {"tools": len(names)}

    async def unknown_tool(self) -> None:
        if self.strict:
            await fails(self.call("no_such_tool", {}), -32602)
            return
        try:
            result = await self.call("no_such_tool", {})
        except MCPError:
            return
        equal(result.is_error, True)

    async def unknown_method(self) -> None:
        request = types.Request[Any, Any](method="no/such/method", params=None)
        await fails(self.client.session.send_request(request, types.EmptyResult), -32601)

    # The fixtures of the public conformance suite.

    async def everything(self) -> None:
        check, call, client = self.check, self.call, self.client

        async def simple_text() -> None:
            equal(text(await call("test_simple_text")), "This is a simple text response for testing.")

        async def image() -> None:
            [block] = (await call("test_image_content", {})).content
            equal((block.type, block.mime_type), ("image", "image/png"))
            assert is_png(block.data)

        async def audio() -> None:
            [block] = (await call("test_audio_content", {})).content
            equal((block.type, block.mime_type), ("audio", "audio/wav"))
            assert base64.b64decode(block.data).startswith(b"RIFF")

        async def embedded() -> None:
            [block] = (await call("test_embedded_resource", {})).content
            equal(str(block.resource.uri), "test://embedded-resource")
            equal(block.resource.mime_type, "text/plain")
            equal(block.resource.text, "This is an embedded resource content.")

        async def mixed() -> None:
            content = (await call("test_multiple_content_types", {})).content
            equal([block.type for block in content], ["text", "image", "resource"])
            equal(json.loads(content[2].resource.text), {"test": "data", "value": 123})

        async def error() -> None:
            result = await call("test_error_handling", {})
            equal(result.is_error, True)
            equal(text(result), "This tool intentionally returns an error for testing")

        async def progress() -> None:
            seen: list[tuple[float, float | None]] = []

            async def on_progress(done: float, total: float | None, message: str | None) -> None:
                seen.append((done, total))

            await call("test_tool_with_progress", {}, progress_callback=on_progress)
            equal(seen, [(0, 100), (50, 100), (100, 100)])

        async def logging() -> None:
            await client.set_logging_level("debug")
            self.inbox.clear()
            equal(text(await call("test_tool_with_logging", {})), "Tool with logging executed successfully")
            wanted = ["Tool execution started", "Tool processing data", "Tool execution completed"]
            logs = await self.inbox.until("notifications/message", 3, lambda params: params.data in wanted)
            equal([(item.level, item.data) for item in logs], [("info", data) for data in wanted])

        async def sampling() -> None:
            asked: list[types.CreateMessageRequestParams] = []

            def answer(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
                asked.append(params)
                content = types.TextContent(type="text", text="a fake answer")
                return types.CreateMessageResult(role="assistant", model="fake", content=content)

            self.on_sample = answer
            equal(text(await call("test_sampling", {"prompt": "say something"})), "LLM response: a fake answer")
            equal(asked[0].max_tokens, 100)
            equal(asked[0].messages[0].content.text, "say something")

        def elicited(answer: str) -> Any:
            return json.loads(answer[answer.index("{") :])

        async def elicitation() -> None:
            content: dict[str, Any] = {}

            def accept(params: types.ElicitRequestParams) -> types.ElicitResult:
                equal(params.message, "Who are you?")
                for name in params.requested_schema.get("required", []):
                    content[name] = f"{name}@example.com"
                return types.ElicitResult(action="accept", content=content)

            self.on_elicit = accept
            answer = text(await call("test_elicitation", {"message": "Who are you?"}))
            assert answer.startswith("User response: action=accept, content="), answer
            equal(elicited(answer), content)
            if self.strict:
                equal(sorted(content), ["email", "username"])
            self.on_elicit = lambda params: types.ElicitResult(action="decline")
            answer = text(await call("test_elicitation", {"message": "Who are you?"}))
            assert answer.startswith("User response: action=decline"), answer

        async def defaults() -> None:
            content = {"name": "Jane Smith", "age": 25, "score": 88, "status": "inactive", "verified": False}
            asked: list[types.ElicitRequestParams] = []

            def accept(params: types.ElicitRequestParams) -> types.ElicitResult:
                asked.append(params)
                return types.ElicitResult(action="accept", content=content)

            self.on_elicit = accept
            equal(elicited(text(await call("test_elicitation_sep1034_defaults", {}))), content)
            properties = asked[0].requested_schema["properties"]
            equal(
                {name: (schema["type"], schema["default"]) for name, schema in properties.items()},
                {
                    "name": ("string", "John Doe"),
                    "age": ("integer", 30),
                    "score": ("number", 95.5),
                    "status": ("string", "active"),
                    "verified": ("boolean", True),
                },
            )

        async def enums() -> None:
            content = {
                "untitledSingle": "option1",
                "titledSingle": "value1",
                "legacyEnum": "opt1",
                "untitledMulti": ["option1", "option2"],
                "titledMulti": ["value1", "value2"],
            }
            self.on_elicit = lambda params: types.ElicitResult(action="accept", content=content)
            equal(elicited(text(await call("test_elicitation_sep1330_enums", {}))), content)

        async def resources() -> None:
            uris = [str(item.uri) for item in await list_all(client.list_resources, "resources")]
            for uri in ["test://static-text", "test://static-binary", "test://watched-resource"]:
                assert uri in uris, uri
            templates = await list_all(client.list_resource_templates, "resource_templates")
            assert "test://template/{id}/data" in [item.uri_template for item in templates]
            [content] = (await client.read_resource("test://static-text")).contents
            equal(content.text, "This is the content of the static text resource.")
            [content] = (await client.read_resource("test://static-binary")).contents
            assert is_png(content.blob)
            [content] = (await client.read_resource("test://template/123/data")).contents
            equal(json.loads(content.text), {"id": "123", "templateTest": True, "data": "Data for ID: 123"})
            error = await fails(client.read_resource("test://no/such/thing"), -32002 if self.strict else None)
            if self.strict:
                equal(error.data, {"uri": "test://no/such/thing"})
            await client.subscribe_resource("test://watched-resource")
            await client.unsubscribe_resource("test://watched-resource")

        async def prompts() -> None:
            listed = {prompt.name: prompt for prompt in await list_all(client.list_prompts, "prompts")}
            declared = listed["test_prompt_with_arguments"].arguments or []
            equal([(item.name, item.required) for item in declared], [("arg1", True), ("arg2", True)])
            [message] = (await client.get_prompt("test_simple_prompt")).messages
            equal((message.role, message.content.text), ("user", "This is a simple prompt for testing."))
            [message] = (
                await client.get_prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": "world"})
            ).messages
            equal(message.content.text, "Prompt with arguments: arg1='hello', arg2='world'")
            messages = (
                await client.get_prompt(
                    "test_prompt_with_embedded_resource", {"resourceUri": "test://example-resource"}
                )
            ).messages
            equal(str(messages[0].content.resource.uri), "test://example-resource")
            messages = (await client.get_prompt("test_prompt_with_image")).messages
            assert is_png(messages[0].content.data)
            await fails(client.get_prompt("no_such_prompt"), -32602 if self.strict else None)

        async def completion() -> None:
            ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
            result = await client.complete(ref, {"name": "arg1", "value": "par"})
            if self.strict:
                equal(result.completion.values, ["paris", "park", "party"])

        await check("tools/call text", simple_text)
        await check("tools/call image", image)
        await check("tools/call audio", audio)
        await check("tools/call embedded resource", embedded)
        await check("tools/call mixed content", mixed)
        await check("tools/call error", error)
        await check("tools/call progress", progress)
        await check("logging", logging)
        await check("sampling", sampling)
        await check("elicitation", elicitation)
        await check("elicitation with defaults", defaults)
        await check("elicitation with enums", enums)
        await check("resources", resources)
        await check("prompts", prompts)
        await check("completion", completion)

    # The set that the peers' own servers offer too.

    async def interop(self) -> None:
        check, call, client = self.check, self.call, self.client

        async def echo() -> None:
            for sample in ["hello", "", 'quotes " and \\ and \n lines', "snow ☃ and 🎉 and \0"]:
                equal(text(await call("echo", {"text": sample})), sample)

        async def large() -> None:
            sample = "0123456789 äöü 🎉\n" * 20_000
            equal(text(await call("echo", {"text": sample})), sample)

        async def together() -> None:
            answers: dict[int, str] = {}

            async def one(index: int) -> None:
                answers[index] = text(await call("echo", {"text": f"call {index}"}))

            async with anyio.create_task_group() as group:
                for index in range(50):
                    group.start_soon(one, index)
            equal(answers, {index: f"call {index}" for index in range(50)})

        async def missing_argument() -> None:
            try:
                result = await call("echo", {})
            except MCPError:
                assert not self.strict
                return
            equal(result.is_error, True)
            if self.strict:
                assert "text" in text(result)

        async def add() -> None:
            result = await call("add", {"a": 2, "b": 3.5})
            equal(result.structured_content, {"sum": 5.5})
            equal(json.loads(text(result)), {"sum": 5.5})

        async def fail() -> None:
            result = await call("fail", {})
            equal(result.is_error, True)
            assert "this tool always fails" in text(result)

        async def progress() -> None:
            seen: list[tuple[float, float | None]] = []

            async def on_progress(done: float, total: float | None, message: str | None) -> None:
                seen.append((done, total))

            equal(text(await call("progress", {"count": 5}, progress_callback=on_progress)), "done")
            equal(seen, [(step, 5) for step in range(1, 6)])

        async def ask() -> None:
            self.on_elicit = lambda params: types.ElicitResult(action="accept", content={"name": "Ada"})
            equal(text(await call("ask", {})), "Hello, Ada!")
            self.on_elicit = lambda params: types.ElicitResult(action="cancel")
            equal(text(await call("ask", {})), "no answer: cancel")

        async def sample() -> None:
            content = types.TextContent(type="text", text="forty-two")
            self.on_sample = lambda params: types.CreateMessageResult(role="assistant", model="fake", content=content)
            equal(text(await call("sample", {"prompt": "how many?"})), "forty-two")

        async def roots() -> None:
            self.roots = [types.Root(uri="file:///one", name="one"), types.Root(uri="file:///two")]
            equal(text(await call("roots", {})), "file:///one\nfile:///two")

        async def log() -> None:
            await client.set_logging_level("warning")
            self.inbox.clear()
            equal(text(await call("log", {"level": "info", "message": "too quiet"})), "logged")
            equal(text(await call("log", {"level": "error", "message": "loud"})), "logged")
            [loud] = await self.inbox.until("notifications/message", 1, lambda params: params.data == "loud")
            equal(loud.level, "error")
            equal([item.data for item in self.inbox.of("notifications/message")], ["loud"])
            await client.set_logging_level("debug")

        async def slow() -> None:
            async def count() -> int:
                return int(text(await call("cancelled", {})))

            before = await count()
            with anyio.CancelScope() as scope:

                async def on_progress(done: float, total: float | None, message: str | None) -> None:
                    scope.cancel()

                await call("slow", {}, progress_callback=on_progress)
            assert scope.cancelled_caught
            with anyio.fail_after(WAIT):
                while await count() != before + 1:
                    pass

        async def touch() -> None:
            self.inbox.clear()
            await client.subscribe_resource("memo://one")
            await call("touch", {"uri": "memo://one"})
            await self.inbox.until("notifications/resources/updated", 1, lambda params: str(params.uri) == "memo://one")
            await client.unsubscribe_resource("memo://one")

        async def grow() -> None:
            self.inbox.clear()
            await call("grow", {})
            await self.inbox.until("notifications/tools/list_changed")
            names = [tool.name for tool in await list_all(client.list_tools, "tools")]
            assert "grown" in names, names

        async def memos() -> None:
            listed = await list_all(client.list_resources, "resources")
            assert ("memo://one", "one") in [(str(item.uri), item.name) for item in listed]
            templates = await list_all(client.list_resource_templates, "resource_templates")
            assert "memo://{name}" in [item.uri_template for item in templates]
            [content] = (await client.read_resource("memo://one")).contents
            equal(content.text, "first memo")
            [content] = (await client.read_resource("memo://two")).contents
            equal((str(content.uri), content.text), ("memo://two", "second memo"))
            await fails(client.read_resource("memo://three"), -32002 if self.strict else None)

        async def greeting() -> None:
            [prompt] = [item for item in await list_all(client.list_prompts, "prompts") if item.name == "greet"]
            equal([(item.name, item.required) for item in prompt.arguments or []], [("name", True)])
            [message] = (await client.get_prompt("greet", {"name": "Ada"})).messages
            equal((message.role, message.content.text), ("user", "Please greet Ada."))
            ref = types.PromptReference(type="ref/prompt", name="greet")
            result = await client.complete(ref, {"name": "name", "value": "Al"})
            equal(result.completion.values, ["Alice", "Alan"])

        await self.check_tool("echo", "echo", echo)
        await self.check_tool("echo", "echo of a large text", large)
        await self.check_tool("echo", "calls at the same time", together)
        await self.check_tool("echo", "missing argument is an error", missing_argument)
        await self.check_tool("add", "structured output", add)
        await self.check_tool("fail", "tool error", fail)
        await self.check_tool("progress", "progress", progress)
        await self.check_tool("ask", "elicitation", ask)
        await self.check_tool("sample", "sampling", sample)
        await self.check_tool("roots", "roots", roots)
        await self.check_tool("log", "logging", log)
        await self.check_tool("slow", "cancellation", slow)
        await self.check_tool("touch", "resource updates", touch)
        await self.check_tool("grow", "list changes", grow)
        await check("memos", memos)
        await check("greeting", greeting)


async def main() -> int:
    arguments = Arguments(sys.argv[1:])
    checks = Checks(arguments)
    async with checks.client:
        await checks.run(arguments.require)
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
