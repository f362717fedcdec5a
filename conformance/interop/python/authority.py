"""The OAuth side of the protected Python server: the SDK's own routes, and what the SDK leaves to its user, in
memory. Nobody is asked: who comes is let in. There is one scope: a refusal of this SDK doesn't say which one is
missing, so no client could ask for another."""

import json
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

USE = "mcp:use"
LIFE = 3600


class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Gives codes and tokens, and remembers them."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.logins = self.renewals = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        query = {"code": code} | ({"state": params.state} if params.state else {})
        return f"{params.redirect_uri}?{urlencode(query)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        if self.codes.pop(authorization_code.code, None) is None:
            raise TokenError("invalid_grant", "the code was used")
        self.logins += 1
        return self.issue(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        # Each is good once.
        del self.refresh[refresh_token.token]
        self.renewals += 1
        return self.issue(client, scopes or refresh_token.scopes, refresh_token.resource)

    def issue(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        grant: dict[str, Any] = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + LIFE, **grant)
        self.refresh[refresh] = RefreshToken(token=refresh, **grant)
        return OAuthToken(access_token=access, expires_in=LIFE, refresh_token=refresh, scope=" ".join(scopes))

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


def options(origin: str, authority: Authority) -> dict[str, Any]:
    """What makes a server at `origin` a protected one."""
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(origin),
        resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
        required_scopes=[USE],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[USE], default_scopes=[USE]),
        revocation_options=RevocationOptions(enabled=True),
    )
    return {"auth": settings, "auth_server_provider": authority}


def add_tools(mcp: MCPServer, authority: Authority) -> None:
    """The tools that show what tokens say."""

    @mcp.tool(description="Says what the token says", structured_output=False)
    async def whoami() -> str:
        token = get_access_token()
        assert token
        return json.dumps(
            {
                "client": token.client_id,
                "scopes": token.scopes,
                "resource": token.resource,
                "logins": authority.logins,
                "renewals": authority.renewals,
            }
        )

    @mcp.tool(description="Forgets the access tokens", structured_output=False)
    async def expire() -> str:
        authority.access.clear()
        return "expired"
