"""allauth's OpenID Connect provider, with the checks that it lacks: signature, nonce and issuer.

allauth finds this module by its name. There is one provider, from the settings. Accounts are stored
under the provider's issuer, so accounts of another issuer are unknown here.
"""

import hmac
from collections.abc import Mapping
from typing import Any

import jwt
import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialToken
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import get_random_string

from executions.public.database import connection, step_aside
from valkyr_plugins.sso.responses import ProviderTrouble

# Validate an ID token by all rules of OpenID Connect (Core, 3.1.3.7).


# Without "none" and without symmetric algorithms: a public key must not serve as a shared secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
LEEWAY_SECONDS = 30
# Maximum characters of a subject: the length of its column. The specification allows 255.
LONGEST_SUBJECT = 191


def read_id_token(
    token: Any, keys: Any, *, issuer: str, client_id: str, nonce: str | None
) -> dict[str, Any]:
    """Return the claims of a signed, unexpired token that was issued to us for this sign-in.

    `keys` is the provider's JWK set. Raises ProviderTrouble.
    """
    if not isinstance(token, str):
        raise ProviderTrouble("the answer has no id_token")
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            _key(token, keys),
            algorithms=ALGORITHMS,
            audience=client_id,
            issuer=issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ProviderTrouble(f"the id_token is not valid: {type(error).__name__}") from None
    if len(_audience(claims)) > 1 and claims.get("azp") != client_id:
        raise ProviderTrouble("the id_token was issued for another client (azp)")
    if not nonce or not _same(claims.get("nonce"), nonce):
        raise ProviderTrouble("the id_token was made for another sign-in (nonce)")
    if not _is_subject(claims["sub"]):
        raise ProviderTrouble("the id_token names no subject")
    return claims


def with_user_info(claims: Mapping[str, Any], info: Any) -> dict[str, Any]:
    """Return the claims with those of the user-info endpoint added; `claims` take precedence.

    Raises ProviderTrouble for another user's claims.
    """
    if not isinstance(info, dict) or info.get("sub") != claims["sub"]:
        raise ProviderTrouble("the user-info endpoint returned another subject")
    if "email" in claims and claims["email"] != info.get("email"):
        info = {name: value for name, value in info.items() if name != "email_verified"}
    return {**info, **claims}


def _key(token: str, keys: Any) -> jwt.PyJWK:
    wanted = jwt.get_unverified_header(token).get("kid")
    known = [key for key in jwt.PyJWKSet.from_dict(keys).keys if key.public_key_use != "enc"]
    chosen = [key for key in known if key.key_id == wanted] if wanted else known
    if len(chosen) != 1:
        raise ValueError
    return chosen[0]


def _audience(claims: Mapping[str, Any]) -> list[Any]:
    audience = claims["aud"]
    return audience if isinstance(audience, list) else [audience]


def _is_subject(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_SUBJECT and value.isprintable()


def _same(one: Any, other: str) -> bool:
    return isinstance(one, str) and hmac.compare_digest(one.encode(), other.encode())


NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")


class Conversation(OpenIDConnectOAuth2Adapter):
    """The requests to the provider in one sign-in."""

    nonce: str | None = None

    def __init__(self, request: HttpRequest, provider_id: str) -> None:
        super().__init__(request, provider_id)
        self._discovered: dict[str, Any] | None = None

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's discovery document.

        Raises ProviderTrouble if it is incomplete or has another issuer.
        """
        if self._discovered is None:
            provider = self.get_provider()
            self._discovered = _discovered(self.get_json(provider.server_url), provider.sub_id)
        return self._discovered

    def get_json(self, url: str, **more: Any) -> Any:
        """Request a URL of the provider and return its JSON. Raises ProviderTrouble."""
        _let_go()
        try:
            with get_adapter().get_requests_session() as session:
                answer = session.get(url, **more)
                answer.raise_for_status()
                return answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ProviderTrouble(f"{url}: {type(error).__name__}: {error}") from None

    def get_access_token_data(self, *args: Any, **kwargs: Any) -> Any:
        """Exchange the provider's code for tokens, and return the tokens.

        Raises ProviderTrouble and allauth's errors.
        """
        _let_go()
        try:
            return super().get_access_token_data(*args, **kwargs)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ProviderTrouble(f"the answer to the code: {type(error).__name__}") from None

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        """Return the access token, for the user-info endpoint.

        The token and its expiry are not stored.
        """
        return SocialToken(token=str(data["access_token"]))

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Return the sign-in with the checked claims; nothing is saved."""
        claims = read_id_token(
            kwargs["response"].get("id_token"),
            self.get_json(self.openid_config["jwks_uri"]),
            issuer=self.openid_config["issuer"],
            client_id=app.client_id,
            nonce=self.nonce,
        )
        if "userinfo_endpoint" in self.openid_config:
            headers = {"Authorization": f"Bearer {token.token}"}
            info = self.get_json(self.openid_config["userinfo_endpoint"], headers=headers)
            claims = with_user_info(claims, info)
        return self.get_provider().sociallogin_from_response(request, claims)

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Return the address to which the provider redirects users."""
        return request.build_absolute_uri(reverse("valkyr-sso-callback"))


def _let_go() -> None:
    """Release the database connection and the request's slot, unless in a transaction."""
    if not connection.in_atomic_block:
        step_aside()


def _discovered(document: Any, issuer: str) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ProviderTrouble("the discovery document is not a JSON object")
    if absent := [name for name in NEEDED if not isinstance(document.get(name), str)]:
        raise ProviderTrouble(f"the discovery document lacks {', '.join(absent)}")
    if document["issuer"] != issuer:
        raise ProviderTrouble(
            f"the discovery document is that of {document['issuer']!r}, not of {issuer!r}"
        )
    return document


class Provider(OpenIDConnectProvider):
    """The installation's identity provider."""

    id = "valkyr_oidc"
    oauth2_adapter_class = Conversation

    def begin(self, request: HttpRequest, next_url: str) -> Any:
        """Redirect the user to the provider, with a state, a nonce and a PKCE challenge.

        Unlike allauth's own view, ignore scopes, parameters and a request to connect accounts in
        the query: the browser must not choose them.
        """
        nonce = get_random_string(32)
        return self.redirect(
            request, "login", next_url=next_url, auth_params={"nonce": nonce}, nonce=nonce
        )

    def extract_uid(self, data: dict[str, Any]) -> str:
        """Return the subject, which the provider never reassigns."""
        return str(data["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return {}: no claims are stored with the account."""
        return {}

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Return the sign-in; allauth gets only the subject, and our own code reads `claims`."""
        login = super().sociallogin_from_response(request, {"sub": response["sub"]})
        login.claims = response
        return login


provider_classes = [Provider]
