"""The OAuth side of the Python client: a person who allows everything, by plain HTTP, and the checks of a
protected server."""

import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

# Nobody listens there: the person below reads where the browser would be sent.
REDIRECT = "http://127.0.0.1:1/callback"


class Login:
    """One login of one client; it is also where the SDK keeps what it gets."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.registrations = 0
        self.visits = 0
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None
        self.answer: dict[str, str] = {}
        metadata = OAuthClientMetadata(
            client_name="interop", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
        )
        self.provider = OAuthClientProvider(url, metadata, self, self.visit, self.returned)
        http = httpx2.AsyncClient(auth=self.provider, timeout=60)
        self.transport = streamable_http_client(url, http_client=http)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.registrations += 1
        self.client = client_info

    async def visit(self, url: str) -> None:
        """The browser step: opens the page, and presses its button if there is one."""
        self.visits += 1
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
            if answer.status_code == 200:
                assert '<form method="post">' in answer.text
                parts = urlsplit(url)
                answer = await browser.post(url, headers={"origin": f"{parts.scheme}://{parts.netloc}"})
        assert answer.status_code == 302, answer
        target = urlsplit(answer.headers["location"])
        assert f"{target.scheme}://{target.netloc}{target.path}" == REDIRECT
        self.answer = {name: values[0] for name, values in parse_qs(target.query).items()}

    async def returned(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answer)

    async def checks(
        self,
        check: Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[None]],
        call: Callable[..., Awaitable[Any]],
    ) -> None:
        """The checks of our protected server; see conformance/src/everything/protected.rs for its tools."""

        async def whoami() -> dict[str, Any]:
            return json.loads((await call("whoami", {})).content[0].text)

        async def refused() -> None:
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            headers = {"accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient() as http:
                answer = await http.post(self.url, json=body, headers=headers)
                assert answer.status_code == 401, answer
                named = re.match('Bearer .*resource_metadata="([^"]+)"', answer.headers["www-authenticate"])
                assert named
                document = (await http.get(named[1])).json()
            assert document["resource"] == self.url, document

        async def login() -> None:
            facts = await whoami()
            assert self.client and facts == {"client": self.client.client_id, "scopes": ["mcp:use"]}, facts
            assert (self.registrations, self.visits) == (1, 1)

        async def renewal() -> None:
            before = self.tokens
            # The SDK renews by the clock, so the clock has to say that it is time.
            self.provider.context.token_expiry_time = time.time() - 1
            assert (await whoami())["scopes"] == ["mcp:use"]
            assert before and self.tokens and before.access_token != self.tokens.access_token
            assert self.visits == 1

        async def step_up() -> None:
            assert (await call("restricted", {})).content[0].text == "allowed"
            assert sorted((await whoami())["scopes"]) == ["mcp:admin", "mcp:use"]
            assert (self.registrations, self.visits) == (1, 2)

        await check("authorization refused", refused)
        await check("authorization login", login)
        await check("authorization renewal", renewal)
        await check("authorization step-up", step_up)
