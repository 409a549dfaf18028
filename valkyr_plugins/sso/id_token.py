"""An ID token believed only when everything OpenID Connect asks for holds (Core, 3.1.3.7)."""

import hmac
from collections.abc import Mapping
from typing import Any

import jwt

from valkyr_plugins.sso.errors import ProviderTrouble

# Never "none", and nothing symmetric: a public key must not serve as a shared secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
LEEWAY_SECONDS = 30
# As long as the column that keeps it; the specification would allow 255.
LONGEST_SUBJECT = 191


def read_id_token(
    token: Any, keys: Any, *, issuer: str, client_id: str, nonce: str | None
) -> dict[str, Any]:
    """The claims of a signed, fresh token for us, made for this very sign-in.

    `keys` is the provider's JWK set. Raises ProviderTrouble.
    """
    if not isinstance(token, str):
        raise ProviderTrouble("the answer holds no id_token")
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
        raise ProviderTrouble("the id_token was made for somebody else (azp)")
    if not nonce or not _same(claims.get("nonce"), nonce):
        raise ProviderTrouble("the id_token was made for another sign-in (nonce)")
    if not _is_subject(claims["sub"]):
        raise ProviderTrouble("the id_token names no subject")
    return claims


def with_user_info(claims: Mapping[str, Any], info: Any) -> dict[str, Any]:
    """The claims and what the user-info endpoint adds, which must be about the same person."""
    if not isinstance(info, dict) or info.get("sub") != claims["sub"]:
        raise ProviderTrouble("the user-info endpoint spoke of somebody else")
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
